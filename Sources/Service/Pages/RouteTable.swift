internal import PushStore

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
