internal import PushStore

/// How engaged users are: the figures of now, or of the newest analysis where counting takes too long, and the stored analyses.
struct EngagementPage {
  /// As many as are stored: one in 72 hours, for a year.
  static let analysesMax = 125

  /// Of the last seven days; nil when they could not be counted in time.
  let current: EngagementFigures?
  /// The newest first.
  let analyses: [EngagementAnalysis]

  var page: Page {
    Page(
      title: "Engagement",
      body: """
        <h1>Engagement</h1>
        <p class="note">\(source)</p>
        \((current ?? analyses.first?.figures).map(figures) ?? .none)
        <section aria-labelledby="history"><h2 id="history">Analyses</h2>\(history)</section>
        """)
  }

  private var source: HTML {
    if current != nil { return "All users whose activity is known, now, and their sessions of the last 7 days." }
    guard let newest = analyses.first else {
      return "The users could not be counted in time, and no analysis is stored yet."
    }
    return """
      The users could not be counted in time. These are the figures of the analysis of \(
      Wording.time(newest.analysedAt)) UTC.
      """
  }

  private func figures(_ figures: EngagementFigures) -> HTML {
    let items = [
      HTML.figure("Users", Wording.number(figures.totalUsers), "whose activity is known"),
      HTML.figure("Active", Wording.number(figures.activeUsers), "in the last day"),
      HTML.figure(
        "Engagement rate", Wording.percentage(figures.activeUsers, of: figures.totalUsers), "active users of all"),
      HTML.figure("Sessions", Wording.number(figures.sessions), "began in 7 days"),
      HTML.figure("Sessions per user", Wording.average(figures.sessionsPerWeek), "in 7 days"),
      HTML.figure("Session length", Wording.length(ofSession: figures), "on average"),
    ]
    return """
      <dl class="figures">\(items)</dl>
      <section aria-labelledby="classes"><h2 id="classes">Users by their last activity</h2>
      \(EngagementChart(figures: figures).html)
      </section>
      """
  }

  private var history: HTML {
    Table(
      caption: "Stored analyses of engagement",
      columns: [
        "Analysed", .number("Users"), .number("Active"), .number("Recent"), .number("Lapsed"), .number("Churn risk"),
        .number("Rate"), .number("Sessions per user"), .number("Session length"),
      ], empty: "No analysis is stored yet. The service stores one every 72 hours.", rows: analyses.map(Self.row)
    ).html
  }

  private static func row(_ analysis: EngagementAnalysis) -> [HTML] {
    let figures = analysis.figures
    return [Wording.time(analysis.analysedAt), "\(Wording.number(figures.totalUsers))"]
      + figures.classes.map { "\(Wording.number($0.users))" }
      + [
        "\(Wording.percentage(figures.activeUsers, of: figures.totalUsers))",
        "\(Wording.average(figures.sessionsPerWeek))",
        "\(Wording.length(ofSession: figures))",
      ]
  }
}

/// The classes of users as one bar, with a legend that has their numbers.
struct EngagementChart {
  /// Of the bar, in the picture's own units.
  private static let (width, height) = (1000, 10)

  let figures: EngagementFigures

  var html: HTML {
    """
    <figure>
    <svg class="classes" viewBox="0 0 \(Self.width) \(Self.height)" preserveAspectRatio="none" role="img"
     aria-label="\(summary)">
    \(bars)</svg>
    <figcaption><ul class="legend">\(legend)</ul></figcaption>
    </figure>
    """
  }

  private var summary: String {
    figures.classes.map { "\($0.users) \(Self.title($0.name))" }.joined(separator: ", ")
  }

  private var bars: [HTML] {
    var users = 0
    return figures.classes.map { name, count -> HTML in
      let start = place(users)
      users += count
      return """
        <rect class="\(name)" x="\(start)" y="0" width="\(place(users) - start)" height="\(Self.height)"/>
        """
    }
  }

  /// Where the bar of so many users ends.
  private func place(_ users: Int) -> Int { users * Self.width / max(1, figures.totalUsers) }

  private var legend: [HTML] {
    figures.classes.map { name, count -> HTML in
      let share = Wording.percentage(count, of: figures.totalUsers)
      return """
        <li class="\(name)">\(Self.title(name)), \(Self.span(name)): \(Wording.number(count)) (\(share))</li>
        """
    }
  }

  private static func title(_ name: String) -> String { name == "churn_risk" ? "churn risk" : name }

  private static func span(_ name: String) -> String {
    switch name {
    case "active": "up to a day ago"
    case "recent": "up to 3 days"
    case "lapsed": "up to 7 days"
    default: "longer"
    }
  }
}

extension Wording {
  /// A number with two decimal places.
  fileprivate static func average(_ number: Double) -> String {
    let hundredths = Int((number * 100).rounded())
    return "\(Wording.number(hundredths / 100)).\(String(hundredths % 100 + 100).dropFirst())"
  }

  /// How long sessions last on average; a dash without one.
  fileprivate static func length(ofSession figures: EngagementFigures) -> String {
    guard figures.sessions > 0 else { return "–" }
    let seconds = Int64(figures.secondsPerSession.rounded())
    return seconds == 0 ? "0 s" : age(.seconds(seconds))
  }
}
