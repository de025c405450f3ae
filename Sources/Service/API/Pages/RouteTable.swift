internal import PushStore

/// How one reactor of this process fares with a route to APNs.
package struct RouteCondition: Equatable, Sendable {
  /// App and environment, as lanes are named.
  package let name: String
  package let isReady: Bool
  /// Whether the service is not well without it.
  package let isNeeded: Bool
  /// What APNs or the connection said last against it; nil when nothing is known.
  package let problem: String?

  package init(name: String, isReady: Bool, isNeeded: Bool, problem: String?) {
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

/// The routes to APNs, and what waits for them.
struct RouteTable {
  let routes: [RouteReport]
  /// Microseconds since 1970.
  let now: Int64

  var html: HTML {
    var table = Table(
      caption: "Routes to APNs",
      columns: [
        .init(title: "Route"), .init(title: "State"), .init(title: "Waiting", isNumber: true), .init(title: "Since"),
      ],
      empty: "No app is set up.")
    table.rows = routes.map { route in
      [
        "<div class=\"route\">\(Self.name(of: route))\(Self.problem(of: route))</div>", Self.state(of: route),
        "\(route.lane.map { Wording.count($0.waiting) } ?? "0")",
        route.lane.map(since) ?? "–",
      ]
    }
    return table.html
  }

  private static func state(of route: RouteReport) -> HTML {
    switch route.isReady {
    case true: "<span class=\"mark sent\">open</span>"
    case false: "<span class=\"mark failed\">shut</span>"
    default: "<span class=\"mark held\">waited for</span>"
    }
  }

  /// It may break behind the app.
  private static func name(of route: RouteReport) -> HTML {
    let parts = route.name.split(separator: "/").map { "\(String($0))" as HTML }
    return parts.dropFirst().reduce(parts.first ?? .none) { "\($0)/<wbr>\($1)" }
  }

  private static func problem(of route: RouteReport) -> HTML {
    route.problem.map { "<span class=\"problem\">\($0)</span>" } ?? ""
  }

  private func since(_ lane: WaitingLane) -> HTML {
    Wording.time(now - lane.oldestAge.wholeMicroseconds, hasDate: lane.oldestAge > .seconds(86_400))
  }
}
