internal import Channels
internal import Logging
internal import PushRules
internal import PushStore
internal import Reactors

/// The routes that pushes take, those of every channel, each with its lane.
struct Lanes {
  enum Admission {
    /// It may; the lane must be told its end.
    case admitted(Lane)
    case turnedAway(DeviceVerdict)
  }

  private let configuration: LaneConfiguration
  private var lanes: [DeliveryRoute: Lane] = [:]
  private let logger: Logger

  init(_ configuration: LaneConfiguration, logger: Logger) {
    self.configuration = configuration
    self.logger = logger
  }

  /// Takes the routes that are configured from now on. Those that stay keep their lanes, unless their settings are new.
  mutating func update(_ deliverers: some Sequence<any PushDeliverer>, renewed: Set<DeliveryRoute> = []) {
    var next: [DeliveryRoute: Lane] = [:]
    for deliverer in deliverers {
      for route in deliverer.routes {
        let known = renewed.contains(route) ? nil : lanes[route]
        next[route] =
          known ?? Lane(route, inFlightMax: deliverer.pushesInFlightMax, configuration, logger: logger)
      }
    }
    lanes = next
  }

  subscript(route: DeliveryRoute) -> Lane? { lanes[route] }

  func isOpen(_ name: String) -> Bool {
    lanes.values.contains { $0.route.name == name && $0.room(now: Reactor.now) > 0 }
  }

  func admit(_ device: String, to route: DeliveryRoute) -> Admission {
    guard let lane = lanes[route] else {
      return .turnedAway(.waiting(lane: route.name, reason: Self.isNotConfigured, .none))
    }
    return lane.objection(to: device, now: Reactor.now).map { .turnedAway($0) } ?? .admitted(lane)
  }

  /// What a claim may take of the waiting deliveries: as many as a working lane has room for, one to probe a shut one.
  func claimable(deliveriesMax: Int) -> [ClaimLimits.RouteLimit] {
    let now = Reactor.now
    return lanes.values.compactMap { lane in
      let room = min(lane.room(now: now), deliveriesMax)
      return room > 0 ? ClaimLimits.RouteLimit(lane.route.name, deliveriesMax: room) : nil
    }
  }

  /// A claim of all waiting deliveries whose route is configured, also of shut lanes.
  var all: [ClaimLimits.RouteLimit] { lanes.keys.map { ClaimLimits.RouteLimit($0.name, deliveriesMax: 1) } }

  /// The reason of a push whose app is not configured: it waits until an operator configures it.
  static let isNotConfigured = "app_not_configured"

  /// The reason of a push over a channel that is switched off, which nothing waits for.
  static let isNotSetUp = "channel_not_configured"
}
