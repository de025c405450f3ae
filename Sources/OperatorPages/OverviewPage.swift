internal import PushStore

/// How the service fares: what needs attention first, then figures, then the newest pushes.
struct OverviewPage {
  /// How often the live page is loaded again, in seconds.
  static let refreshSeconds = 5

  /// An event that waits longer than this was not noticed in time; the poll takes a second at the most.
  private static let inboxAgeMax = Duration.seconds(10)

  let overview: ServiceOverview
  let routes: [RouteReport]
  let isLive: Bool
  /// Microseconds since 1970.
  let now: Int64

  var page: Page {
    var page = Page(title: attention.isEmpty ? "All is well" : "Needs attention", body: body)
    if isLive { page.refresh = Self.refreshSeconds }
    return page
  }

  private var body: HTML {
    """
    <div class="headline">
    <h1>Overview</h1>
    <p class="live">\(Wording.clock(now)) UTC · \(pause)</p>
    </div>
    \(state)
    \(FigureList(overview: overview).html)
    <section aria-labelledby="rate">
    <h2 id="rate">The last \(Wording.span(overview.ledger.span))</h2>
    \(RateChart(figures: overview.ledger).html)
    </section>
    <div class="columns">
    <section aria-labelledby="outcomes"><h2 id="outcomes">Outcomes</h2>\(outcomes)</section>
    <section aria-labelledby="routes"><h2 id="routes">Routes to APNs</h2>\(routeTable)</section>
    </div>
    <section aria-labelledby="newest"><h2 id="newest">Last pushes</h2>
    \(PushTable.html(
      overview.newest, caption: "The newest pushes", hasDate: false, empty: "No push has been decided yet."))
    </section>
    \(parked)
    \(instances)
    """
  }

  private var pause: HTML {
    isLive
      ? "every \(Self.refreshSeconds) s <a id=\"pause\" href=\"\(DashboardLink.overview)?live=no\">Pause</a>"
      : "paused <a id=\"resume\" href=\"\(DashboardLink.overview)\">Resume</a>"
  }

  private var state: HTML {
    guard !attention.isEmpty else { return "<p class=\"state well\" role=\"status\">All is well.</p>" }
    let items = attention.map { "<li>\($0)</li>" as HTML }
    return "<div class=\"state ill\" role=\"status\"><h2>Needs attention</h2><ul>\(items)</ul></div>"
  }

  private var attention: [HTML] {
    var items = routes.filter(\.needsAttention).map(Self.attention)
    if let age = overview.queues.oldestAge, age > Self.inboxAgeMax {
      items.append("The oldest event has been in the inbox for \(Wording.age(age)).")
    }
    if overview.queues.parked > 0 {
      items.append("<a href=\"#parked\">\(Wording.count(overview.queues.parked)) set aside</a>: they cannot succeed.")
    }
    return items
  }

  private static func attention(_ route: RouteReport) -> HTML {
    let waiting: HTML = route.lane.map { "\(Wording.count($0.waiting)) waiting" } ?? "no pushes go"
    let problem: HTML = route.problem.map { ": \($0)" } ?? ""
    return "<strong>\(route.name)</strong>, \(waiting)\(problem)"
  }

  private var outcomes: HTML {
    let total = max(1, overview.ledger.counts.total)
    var table = Table(
      caption: "Outcomes by decision and reason", shape: .row,
      columns: [
        .init(title: "Outcome"), .init(title: "Pushes", isNumber: true), .init(title: "Share", isNumber: true),
      ],
      empty: "Nothing was decided in this time.")
    table.rows = overview.ledger.shares.map { share in
      [
        "<span class=\"outcome\">\(Wording.decision(share.decision)) \(Wording.reason(share.reason))</span>",
        "\(Wording.number(share.count))", "\(Self.percentage(share.count, of: total))",
      ]
    }
    return table.html
  }

  private static func percentage(_ count: Int, of total: Int) -> String {
    let tenths = count * 1000 / total
    return tenths >= 100 ? "\((tenths + 5) / 10) %" : "\(tenths / 10).\(tenths % 10) %"
  }

  private var routeTable: HTML {
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

  private var instances: HTML {
    var table = Table(
      caption: "Processes of the service",
      columns: [
        .init(title: "Process"), .init(title: "Version"), .init(title: "Started"),
        .init(title: "Seen", isNumber: true),
      ],
      empty: "None has said in the last minute that it lives.")
    table.rows = overview.instances.map { instance in
      [
        "\(instance.host), \(String(instance.processID))", "\(instance.version)", Wording.time(instance.startedAt),
        "\(Wording.age(instance.seenAge)) ago",
      ]
    }
    return """
      <section aria-labelledby="instances"><h2 id="instances">Service instances</h2>
      \(table.html)
      </section>
      """
  }

  private var parked: HTML {
    guard !overview.parked.isEmpty else { return .none }
    var table = Table(
      caption: "What was set aside last",
      columns: [.init(title: "When"), .init(title: "Event"), .init(title: "User"), .init(title: "Reason")], empty: "")
    table.rows = overview.parked.map { work in
      [
        Wording.time(work.parkedAt),
        """
        \(work.subject.kind) <a href="\(DashboardLink.pushes(ofSubject: work.subject.id))">\(
        Wording.shortID(work.subject.id))</a>
        """,
        work.userID.map(Wording.shortID) ?? "all", "\(work.reason)",
      ]
    }
    return """
      <section aria-labelledby="parked"><h2 id="parked">Set aside</h2>
      \(table.html)
      <p class="note">When the cause is mended, the function <code>tacet.replay</code> puts them back.</p>
      </section>
      """
  }
}
