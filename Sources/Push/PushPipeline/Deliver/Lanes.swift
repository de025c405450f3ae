internal import APNSCore
internal import Logging
internal import PushStore
internal import Reactors

/// The routes that pushes take, two for each app and APNs environment, each with its lane.
struct Lanes {
  /// Whether a push may go.
  enum Admission {
    /// It may; the lane must be told its end.
    case admitted(Lane)
    /// It may not, with this verdict.
    case turnedAway(DeviceVerdict)
  }

  private let configuration: LaneConfiguration
  private var lanes: [PushRoute: Lane] = [:]
  private let logger: Logger

  init(_ configuration: LaneConfiguration, apps: Set<BundleIdentifier>, logger: Logger) {
    self.configuration = configuration
    self.logger = logger
    update(apps: apps)
  }

  /// Takes the apps that are configured from now on; apps that stay keep their lanes.
  mutating func update(apps: Set<BundleIdentifier>) {
    let routes = apps.flatMap(PushRoute.all(of:))
    lanes = Dictionary(
      uniqueKeysWithValues: routes.map { ($0, lanes[$0] ?? Lane($0, configuration, logger: logger)) })
  }

  /// The lane of a route; nil when its app is not configured.
  subscript(route: PushRoute) -> Lane? { lanes[route] }

  /// Whether pushes go over the lane of this name.
  func isOpen(_ name: String) -> Bool {
    lanes.values.contains { $0.route.name == name && $0.room(now: Reactor.now) > 0 }
  }

  /// Whether a push to a device may go now.
  func admit(_ device: String, to route: PushRoute) -> Admission {
    guard let lane = lanes[route] else {
      return .turnedAway(.waiting(lane: route.name, reason: Self.isNotConfigured, .none))
    }
    return lane.objection(to: device, now: Reactor.now).map { .turnedAway($0) } ?? .admitted(lane)
  }

  /// The lane to the same app's devices in the other environment; nil when the app is no longer configured, and for channels,
  /// which are never tried elsewhere.
  func neighbour(of lane: Lane) -> Lane? {
    lane.route.service == .devices ? lanes[lane.route.inOtherEnvironment] : nil
  }

  /// What a claim may take of the waiting deliveries: as many as a working lane has room for, one to probe a shut one.
  func claimable(deliveriesMax: Int) -> [ClaimLimits.RouteLimit] {
    let now = Reactor.now
    return lanes.values.compactMap { lane in
      let room = min(lane.room(now: now), deliveriesMax)
      return room > 0 ? ClaimLimits.RouteLimit(lane.route.name, deliveriesMax: room) : nil
    }
  }

  /// A claim of all waiting deliveries whose app is configured, also of shut lanes.
  var all: [ClaimLimits.RouteLimit] { lanes.keys.map { ClaimLimits.RouteLimit($0.name, deliveriesMax: 1) } }

  /// The reason of a push to an app that is not configured: it waits until an operator configures it.
  static let isNotConfigured = "app_not_configured"
}

extension PushRoute {
  /// Every route of an app.
  static func all(of app: BundleIdentifier) -> [PushRoute] {
    APNSEnvironment.allCases.flatMap { environment in
      APNSService.allCases.map { PushRoute(app: app, environment: environment, service: $0) }
    }
  }

  /// The route to the same app's devices in the other environment.
  var inOtherEnvironment: PushRoute {
    PushRoute(app: app, environment: environment == .production ? .sandbox : .production)
  }
}
