internal import PushRules
internal import PushStore

/// Events that the host has not taken: dead ones, then those that wait.
struct HostEventPage {
  /// Events shown of either.
  static let rowsMax = 50

  let events: [HostEventEntry]

  var page: Page {
    Page(
      title: "Events for the host",
      body: """
        <h1>Events for the host</h1>
        <p class="note">Dead events were not taken for too long, and nobody tries them again. Waiting ones are tried by
        themselves, a user's oldest first.</p>
        <form method="post" action="\(DashboardLink.retryEvents)"><button>Send all of them again</button></form>
        <section aria-labelledby="dead"><h2 id="dead">Dead</h2>\(table(.dead, "Died"))</section>
        <section aria-labelledby="waiting"><h2 id="waiting">Waiting</h2>\(table(.waiting, "Tried next"))</section>
        """)
  }

  private func table(_ state: HostEventState, _ time: String) -> HTML {
    var table = Table(
      caption: state == .dead ? "The newest dead events" : "Waiting events",
      columns: [
        .init(title: "Happened"), .init(title: "Event"), .init(title: "User"), .init(title: "Attempts", isNumber: true),
        .init(title: "Last answer"), .init(title: time),
      ],
      empty: "There are none.")
    table.rows = events.filter { $0.state == state }.map(Self.row)
    return table.html
  }

  private static func row(_ event: HostEventEntry) -> [HTML] {
    [
      Wording.time(event.occurredAt), "\(event.type)\(subject(of: event))",
      "<a href=\"\(DashboardLink.pushes(ofUser: event.userID))\">\(Wording.shortID(event.userID))</a>",
      "\(Wording.number(event.attempts))", answer(to: event), Wording.time(event.at),
    ]
  }

  private static func subject(of event: HostEventEntry) -> HTML {
    guard let id = event.subjectID, let kind = event.kind else { return .none }
    let address = DashboardLink.explanation(of: id, kind: kind, userID: event.userID)
    return " of <a href=\"\(address)\">\(kind) \(Wording.shortID(id))</a>"
  }

  private static func answer(to event: HostEventEntry) -> HTML {
    if let error = event.error { return "\(error)" }
    return event.attempts == 0 ? "not tried" : "none yet"
  }
}
