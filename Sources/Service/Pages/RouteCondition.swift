internal import PushStore

/// How one reactor of this process fares with a route to APNs.
public struct RouteCondition: Equatable, Sendable {
  /// App and environment, as lanes are named.
  public let name: String
  /// Whether pushes go.
  public let isReady: Bool
  /// Whether the service is not well without it.
  public let isNeeded: Bool
  /// What APNs or the connection said last against it; nil when nothing is known.
  public let problem: String?

  /// Describes a route.
  public init(name: String, isReady: Bool, isNeeded: Bool, problem: String?) {
    self.name = name
    self.isReady = isReady
    self.isNeeded = isNeeded
    self.problem = problem
  }
}

/// A route to APNs as a person looks at it: what this process knows, and what waits in the database.
struct RouteReport: Equatable {
  let name: String
  /// Of this process's reactors; nil when it does not use the route, and others may.
  let isReady: Bool?
  let isNeeded: Bool
  let problem: String?
  let lane: WaitingLane?

  /// Whether somebody should look after it.
  var needsAttention: Bool { lane != nil || isReady == false && isNeeded }

  /// Every route that is known here or waited for, sorted by name.
  static func all(_ conditions: [RouteCondition], _ lanes: [WaitingLane]) -> [RouteReport] {
    Set(conditions.map(\.name) + lanes.map(\.name)).sorted().map { name in
      let mine = conditions.filter { $0.name == name }
      let lane = lanes.first { $0.name == name }
      return RouteReport(
        name: name, isReady: mine.isEmpty ? nil : mine.allSatisfy(\.isReady),
        isNeeded: mine.contains(where: \.isNeeded), problem: mine.compactMap(\.problem).first ?? lane?.reason,
        lane: lane)
    }
  }
}
