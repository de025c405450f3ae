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
    var table = Table(
      caption: "Outcomes by decision and reason", shape: .row,
      columns: [
        .init(title: "Outcome"), .init(title: "Pushes", isNumber: true), .init(title: "Share", isNumber: true),
      ],
      empty: "Nothing was decided in this time.")
    table.rows = ledger.shares.map { share in
      [
        "<span class=\"outcome\">\(Wording.decision(share.decision)) \(Wording.reason(share.reason))</span>",
        "\(Wording.number(share.count))", "\(Wording.percentage(share.count, of: total))",
      ]
    }
    return table.html
  }

  private func instances(_ instances: [LiveInstance]) -> HTML {
    var table = Table(
      caption: "Processes of the service",
      columns: [
        .init(title: "Process"), .init(title: "Version"), .init(title: "Started"),
        .init(title: "Seen", isNumber: true),
      ],
      empty: "None has said in the last minute that it lives.")
    table.rows = instances.map { instance in
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

  private func parked(_ parked: [ParkedWork]) -> HTML {
    guard !parked.isEmpty else { return .none }
    var table = Table(
      caption: "What was set aside last",
      columns: [.init(title: "When"), .init(title: "Event"), .init(title: "User"), .init(title: "Reason")], empty: "")
    table.rows = parked.map { work in
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
