internal import HTTPTypes
internal import PushRules
internal import PushStore

/// How the service fares: what needs attention first, then figures, then the newest pushes. Without the database it is what
/// this process knows by itself.
struct OverviewPage {
  static let refreshSeconds = 5

  /// Nil when the database did not answer.
  let overview: ServiceOverview?
  let routes: [RouteReport]
  /// What this process knows against itself, its routes aside.
  let faults: [ProcessFault]
  let isLive: Bool
  /// Microseconds since 1970.
  let now: Int64

  var page: Page {
    let attention = Attention(overview: overview, routes: routes, faults: faults).items
    var page = Page(
      title: attention.isEmpty ? "All is well" : "Needs attention",
      // What load balancers and scripts go by; a browser shows the page all the same, and loads it again.
      status: overview == nil ? .serviceUnavailable : .ok, body: body(attention))
    if isLive { page.refresh = Self.refreshSeconds }
    return page
  }

  private func body(_ attention: [HTML]) -> HTML {
    """
    <div class="headline">
    <h1>Overview</h1>
    <p class="live">\(Wording.clock(now)) UTC · \(pause)</p>
    </div>
    \(state(attention))
    \(overview.map(whole) ?? routeSection)
    """
  }

  private func whole(_ overview: ServiceOverview) -> HTML {
    """
    \(FigureList(overview: overview).html)
    <section aria-labelledby="rate">
    <h2 id="rate">The last \(Wording.span(overview.ledger.span))</h2>
    \(RateChart(figures: overview.ledger).html)
    </section>
    <div class="columns">
    <section aria-labelledby="outcomes"><h2 id="outcomes">Outcomes</h2>\(outcomes(overview.ledger))</section>
    \(routeSection)
    </div>
    <section aria-labelledby="newest"><h2 id="newest">Last pushes</h2>
    \(PushTable.html(
      overview.newest, caption: "The newest pushes", hasDate: false, empty: "No push has been decided yet."))
    </section>
    \(parked(overview.parked))
    \(instances(overview.instances))
    """
  }

  private var routeSection: HTML {
    """
    <section aria-labelledby="routes"><h2 id="routes">Routes to APNs</h2>
    \(RouteTable(routes: routes, now: now).html)
    </section>
    """
  }

  private var pause: HTML {
    isLive
      ? "every \(Self.refreshSeconds) s <a id=\"pause\" href=\"\(DashboardLink.overview)?live=no\">Pause</a>"
      : "paused <a id=\"resume\" href=\"\(DashboardLink.overview)\">Resume</a>"
  }

  private func state(_ attention: [HTML]) -> HTML {
    guard !attention.isEmpty else { return "<p class=\"state well\" role=\"status\">All is well.</p>" }
    let items = attention.map { "<li>\($0)</li>" as HTML }
    return "<div class=\"state ill\" role=\"status\"><h2>Needs attention</h2><ul>\(items)</ul></div>"
  }

  private func outcomes(_ ledger: LedgerFigures) -> HTML {
    let total = ledger.counts.total
    return Table(
      caption: "Outcomes by decision and reason", shape: .row,
      columns: ["Outcome", .number("Pushes"), .number("Share")], empty: "Nothing was decided in this time.",
      rows: ledger.shares.map { share in
        [
          Wording.outcome(share.decision, share.reason), "\(Wording.number(share.count))",
          "\(Wording.percentage(share.count, of: total))",
        ]
      }
    ).html
  }

  private func instances(_ instances: [RunningInstance]) -> HTML {
    let table = Table(
      caption: "Processes of the service",
      columns: ["Process", "Version", "Started", .number("Shards"), .number("Seen")],
      empty: "None has said in the last minute that it lives.",
      rows: instances.map { instance in
        [
          "\(instance.host), \(String(instance.processID))", "\(instance.version)", Wording.time(instance.startedAt),
          "\(String(instance.shards)) of \(String(OwnedShards.count))", "\(Wording.age(instance.age)) ago",
        ]
      })
    return """
      <section aria-labelledby="instances"><h2 id="instances">Service instances</h2>
      \(table.html)
      </section>
      """
  }

  private func parked(_ parked: [ParkedWork]) -> HTML {
    guard !parked.isEmpty else { return .none }
    let table = Table(
      caption: "What was set aside last", columns: ["When", "Event", "User", "Reason"], empty: "",
      rows: parked.map { work in
        [
          Wording.time(work.parkedAt), Wording.event(work.subject.kind, work.subject.id),
          work.userID.map(Wording.shortID) ?? "all", "\(work.reason)",
        ]
      })
    return """
      <section aria-labelledby="parked"><h2 id="parked">Set aside</h2>
      \(table.html)
      <p class="note">When the cause is mended, the function <code>tacet.replay</code> puts them back.</p>
      </section>
      """
  }
}

/// The figures at the top of the overview.
struct FigureList {
  let overview: ServiceOverview

  var html: HTML {
    let queues = overview.queues
    let hasMoreWork = queues.held + queues.retryable > PushDatabase.overviewCountMax
    let figures: [HTML] = [
      throughput, latency,
      HTML.figure(
        "In the inbox", Wording.count(queues.events), queues.oldestEventAge.map { "oldest \(Wording.age($0))" }),
      HTML.figure(
        "Held", Wording.count(queues.held, isAtLeast: hasMoreWork), due("looked at", queues.nextHold)),
      HTML.figure(
        "To be tried again",
        Wording.count(queues.retryable, isAtLeast: hasMoreWork && queues.retryable > 0),
        due("tried", queues.nextRetry)),
      waiting,
    ]
    return "<dl class=\"figures\">\(figures)</dl>"
  }

  private var throughput: HTML {
    let ledger = overview.ledger
    let span = "last \(Wording.span(ledger.span))"
    guard ledger.span >= .seconds(60) else {
      return HTML.figure("Sent in the \(span)", Wording.number(ledger.sentLastMinute))
    }
    let share = "\(Wording.number(ledger.counts.sent)) of \(Wording.number(ledger.counts.total))"
    return HTML.figure("Sent in the last minute", Wording.number(ledger.sentLastMinute), "\(span): \(share)")
  }

  private var latency: HTML {
    let ledger = overview.ledger
    let title = "Commit to APNs"
    guard let all = ledger.latency else { return HTML.figure(title, "–", "nothing was sent") }
    let (median, tail) = (Wording.duration(all.median), "p99 \(Wording.duration(all.percentile99))")
    guard let recent = ledger.latencyLastMinute else { return HTML.figure(title, median, tail) }
    return HTML.figure(
      title, Wording.duration(recent.median), "p99 \(Wording.duration(recent.percentile99))",
      "last \(Wording.span(ledger.span)): \(median), \(tail)")
  }

  private var waiting: HTML {
    let lanes = overview.lanes
    // Beyond its bound a lane's count is a lower one, and so is the sum.
    let isAtLeast = lanes.contains { $0.waiting > PushDatabase.overviewCountMax }
    return HTML.figure(
      "Waiting for APNs", Wording.number(lanes.map(\.waiting).reduce(0, +)) + (isAtLeast ? "+" : ""),
      lanes.map(\.oldestAge).max().map { "oldest \(Wording.age($0))" })
  }

  private func due(_ verb: String, _ wait: Duration?) -> String? {
    wait.map { $0 > .zero ? "first \(verb) in \(Wording.age($0))" : "first \(verb) now" }
  }
}

/// The pushes of a span as sixty bars, each divided by decision.
struct RateChart {
  private static let height = 120
  /// Of a bar and the gap behind it, in the picture's own units.
  private static let barWidth = 10

  let figures: LedgerFigures

  var html: HTML {
    let peak = figures.slices.map(\.total).max() ?? 0
    let bars = figures.slices.enumerated().map { bar($1, at: $0, peak: max(1, peak)) }
    let width = figures.slices.count * Self.barWidth
    return """
      <figure>
      <svg class="chart" viewBox="0 0 \(width) \(Self.height)" preserveAspectRatio="none" role="img"
       aria-label="\(summary(peak: peak))">
      \(bars)</svg>
      <div class="axis" aria-hidden="true"><span>\(Wording.duration(figures.span)) ago</span><span>now</span></div>
      <figcaption>
      <ul class="legend"><li class="sent">sent</li><li class="held">held</li><li class="skipped">skipped</li>
      <li class="failed">failed</li></ul>
      <span>Peak \(Wording.number(perMinute(peak))) per minute</span>
      </figcaption>
      </figure>
      """
  }

  private func summary(peak: Int) -> String {
    let counts = figures.counts
    return "Pushes of the last \(Wording.span(figures.span)): \(counts.sent) sent, \(counts.held) held, "
      + "\(counts.skipped) skipped, \(counts.failed) failed; at most \(perMinute(peak)) per minute."
  }

  /// Drawn from the bottom up.
  private func bar(_ counts: LedgerFigures.Counts, at place: Int, peak: Int) -> HTML {
    var top = Self.height
    let parts = [
      ("sent", counts.sent), ("held", counts.held), ("skipped", counts.skipped), ("failed", counts.failed),
    ].compactMap { kind, count -> HTML? in
      guard count > 0 else { return nil }
      // What is there is seen.
      let height = min(top, max(2, count * Self.height / peak))
      top -= height
      return """
        <rect class="\(kind)" x="\(place * Self.barWidth)" y="\(top)" width="\(Self.barWidth - 2)" height="\(height)"/>
        """
    }
    return parts.isEmpty ? .none : "<g>\(parts)</g>\n"
  }

  private func perMinute(_ count: Int) -> Int {
    let slice = figures.span / figures.slices.count
    return Int((Double(count) * (Duration.seconds(60) / slice)).rounded())
  }
}

/// A fault that a process knows of itself.
struct ProcessFault: Equatable {
  /// As `/readyz` calls it.
  let name: String
  let detail: String?

  /// What the checks of `/readyz` say, except those of routes, which pages show in a separate table. A shadow is among them: a page
  /// that called all well would hide that nothing is sent.
  static func all(_ checks: [ReadinessCheck]) -> [ProcessFault] {
    checks.filter { $0.name == ReadinessCheck.shadow || !$0.isReady && !$0.name.hasPrefix("apns ") }
      .map { ProcessFault(name: $0.name, detail: $0.detail) }
  }
}

/// What the operator should look after, the most urgent first. Without an item, no fault is known.
struct Attention {
  /// Nil when the database did not answer.
  let overview: ServiceOverview?
  let routes: [RouteReport]
  let faults: [ProcessFault]

  var items: [HTML] {
    (overview.map(instances) ?? [Self.noDatabase]) + faults.map(Self.fault)
      + routes.filter(\.needsAttention).map(Self.route) + (overview.map { queues($0.queues) } ?? [])
  }

  private static let noDatabase: HTML = """
    <strong>The database did not answer.</strong> Pushes wait until it does; their figures are missing here.
    """

  private func instances(_ overview: ServiceOverview) -> [HTML] {
    guard overview.instances.isEmpty else { return [] }
    return ["No process of the service has said in the last minute that it lives."]
  }

  private func queues(_ queues: QueueFigures) -> [HTML] {
    var items: [HTML] = []
    if let age = queues.oldestEventAge, age >= QueueFigures.overdueFrom {
      items.append("The oldest event has been in the inbox for \(Wording.age(age)).")
    }
    items += Self.overdue("held push was to be looked at", queues.nextHold)
    items += Self.overdue("retry was due", queues.nextRetry)
    if queues.parked > 0 {
      items.append("<a href=\"#parked\">\(Wording.count(queues.parked)) set aside</a>: they cannot succeed.")
    }
    return items
  }

  private static func overdue(_ what: String, _ wait: Duration?) -> [HTML] {
    guard let wait, wait <= .zero - QueueFigures.overdueFrom else { return [] }
    return ["The first \(what) \(Wording.age(.zero - wait)) ago."]
  }

  private static func fault(_ fault: ProcessFault) -> HTML {
    "<strong>\(fault.name)</strong>\(fault.detail.map { ": \($0)" } ?? "")"
  }

  private static func route(_ route: RouteReport) -> HTML {
    let waiting: HTML = route.lane.map { "\(Wording.count($0.waiting)) waiting" } ?? "no pushes go"
    let problem: HTML = route.problem.map { ": \($0)" } ?? ""
    return "<strong>\(route.name)</strong>, \(waiting)\(problem)"
  }
}

/// How this process fares with a route to APNs.
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
  /// Nil when this process does not use the route, and others may.
  let isReady: Bool?
  let isNeeded: Bool
  let problem: String?
  let lane: WaitingLane?

  var needsAttention: Bool { lane != nil || isReady == false && isNeeded }

  /// Every route that is known here or waited for, sorted by name.
  static func all(_ conditions: [RouteCondition], _ lanes: [WaitingLane]) -> [RouteReport] {
    Set(conditions.map(\.name) + lanes.map(\.name)).sorted().map { name in
      let mine = conditions.first { $0.name == name }
      let lane = lanes.first { $0.name == name }
      return RouteReport(
        name: name, isReady: mine?.isReady, isNeeded: mine?.isNeeded ?? false, problem: mine?.problem ?? lane?.reason,
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
    Table(
      caption: "Routes to APNs", columns: ["Route", "State", .number("Waiting"), "Since"], empty: "No app is set up.",
      rows: routes.map { route in
        let problem: HTML = route.problem.map { "<span class=\"problem\">\($0)</span>" } ?? ""
        return [
          "<div class=\"route\">\(Self.name(of: route))\(problem)</div>", Self.state(of: route),
          "\(route.lane.map { Wording.count($0.waiting) } ?? "0")", route.lane.map(since) ?? "–",
        ]
      }
    ).html
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

  private func since(_ lane: WaitingLane) -> HTML {
    Wording.time(now - lane.oldestAge.wholeMicroseconds, hasDate: lane.oldestAge > .seconds(86_400))
  }
}
