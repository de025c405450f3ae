internal import FoundationEssentials
internal import HTTPTypes
internal import Operations
internal import PushRules
internal import PushStore

/// A page of a user's pushes, or of an event's recipients.
struct PushListPage {
  let title: String
  let id: HostID
  let ledger: LedgerPage
  let isUser: Bool
  let isFirst: Bool
  /// The address of what comes behind the last row.
  let next: String?

  var page: Page {
    let id = id.text
    let first = isUser ? DashboardLink.pushes(ofUser: self.id) : DashboardLink.pushes(ofSubject: self.id)
    let back: HTML = isFirst ? "" : "<a href=\"\(first)\">First page</a>"
    let forth: HTML = ledger.hasMore ? next.map { "<a rel=\"next\" href=\"\($0)\">Next page</a>" } ?? "" : ""
    return Page(
      title: title, search: id,
      body: """
        <h1>\(title) <code>\(id)</code></h1>
        <p class="note">\(order)</p>
        \(PushTable.html(
          ledger.entries, caption: "\(title) \(id)", hasDate: true, omitsUser: isUser,
          empty: isFirst ? "None in the ledger." : "There is nothing more."))
        <nav class="pages" aria-label="Pages">\(back) \(forth)</nav>
        """)
  }

  private var order: HTML {
    isUser ? "The newest first." : "Sorted by user id."
  }
}

/// Pushes, each with a link to why it came or did not.
enum PushTable {
  /// - Parameters:
  ///   - hasDate: whether the times are of different days. omitsUser: whether all are one user's.
  static func html(
    _ entries: [LedgerEntry], caption: String, hasDate: Bool, omitsUser: Bool = false, empty: String
  ) -> HTML {
    var columns: [Table.Column] = [.init("Committed", name: "at"), .init("Event", name: "event")]
    if !omitsUser { columns.append(.init("User", name: "user")) }
    columns += [
      .init("Outcome", name: "became"), .init("To APNs", isNumber: true, name: "way"),
      .init("Why", name: "why"),
    ]
    let rows = entries.map { entry in
      var cells = [Wording.time(entry.enqueuedAt, hasDate: hasDate), event(entry)]
      if !omitsUser {
        cells.append("<a href=\"\(DashboardLink.pushes(ofUser: entry.userID))\">\(Wording.shortID(entry.userID))</a>")
      }
      return cells + [Wording.outcome(entry.decision, entry.reason), way(entry), explanation(entry)]
    }
    return Table(caption: caption, shape: .entry, columns: columns, empty: empty, rows: rows).html
  }

  private static func event(_ entry: LedgerEntry) -> HTML {
    entry.subjectID.map { Wording.event(entry.kind, $0) } ?? "\(entry.kind)"
  }

  private static func way(_ entry: LedgerEntry) -> HTML {
    entry.way.map { "\(Wording.duration($0))" } ?? "<span aria-label=\"none\">–</span>"
  }

  private static func explanation(_ entry: LedgerEntry) -> HTML {
    guard let subject = entry.subjectID else { return "–" }
    let address = DashboardLink.explanation(of: subject, kind: entry.kind, userID: entry.userID)
    let user = String(entry.userID.text.prefix(8))
    return "<a href=\"\(address)\">Explain<span class=\"unseen\"> the push to \(user)</span></a>"
  }
}

/// The story of an event's pushes, told in order.
struct ExplanationPage {
  let explanations: [EventExplanation]
  let subjectID: String

  var page: Page {
    guard !explanations.isEmpty else {
      return Page(
        title: "Unknown", search: subjectID, status: .notFound,
        body: """
          <h1>Nothing is known of it</h1>
          <p class="lead">There was no such event, its pushes are older than what is kept, or it is not yet decided.</p>
          <p><code>\(subjectID)</code></p>
          """)
    }
    return Page(title: "Why", search: subjectID, body: "\(explanations.map(event))")
  }

  private func event(_ explanation: EventExplanation) -> HTML {
    let committed: HTML = explanation.committedAt.map { "Committed \(Wording.time($0)) UTC · " } ?? ""
    return """
      <article class="explanation">
      <h1>\(explanation.kind) <code>\(explanation.subjectID)</code></h1>
      <p class="lead">\(explanation.summary)</p>
      <p class="note">\(committed)<a href="\(recipientsLink(explanation))">all recipients</a></p>
      \(explanation.steps.isEmpty ? .none : whole(explanation))
      \(explanation.recipients.map { recipient($0, since: explanation.committedAt) })
      \(explanation.hasMoreRecipients ? moreRecipients(explanation) : .none)
      </article>
      """
  }

  private func whole(_ explanation: EventExplanation) -> HTML {
    """
    <section>
    <h2>The event</h2>
    \(story(explanation.steps, since: explanation.committedAt))
    </section>
    """
  }

  private func moreRecipients(_ explanation: EventExplanation) -> HTML {
    """
    <p class="note">There are more recipients than are told of here: <a href="\(recipientsLink(explanation))">list \
    them all</a>.</p>
    """
  }

  private func recipientsLink(_ explanation: EventExplanation) -> String {
    "\(DashboardLink.pushes)?subject_id=\(explanation.subjectID)"
  }

  private func recipient(_ recipient: EventExplanation.Recipient, since start: Int64?) -> HTML {
    """
    <section>
    <h2>To <a href="\(DashboardLink.pushes)?user_id=\(recipient.userID)"><code>\(recipient.userID)</code></a></h2>
    <p class="summary">\(recipient.summary)</p>
    \(story(recipient.steps, since: start))
    </section>
    """
  }

  /// What happened, in order; times are counted from the commit, or from the first of them where that is forgotten.
  private func story(_ steps: [EventExplanation.Step], since start: Int64?) -> HTML {
    guard let first = steps.first else { return .none }
    return "<ol class=\"story\">\n\(steps.map { step($0, since: start ?? first.at) })</ol>"
  }

  private func step(_ step: EventExplanation.Step, since start: Int64) -> HTML {
    let details = step.details.map { "<div><dt>\($0.name)</dt><dd>\($0.value)</dd></div>" as HTML }
    let list: HTML = details.isEmpty ? "" : "<dl>\(details)</dl>"
    let after = Duration.microseconds(step.at - start)
    return """
      <li><p><span class="after">+\(Wording.duration(after))</span> \(step.text)
      <span class="clock">\(Wording.time(step.at))</span></p>\(list)</li>

      """
  }
}

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
    Table(
      caption: state == .dead ? "The newest dead events" : "Waiting events",
      columns: ["Happened", "Event", "User", .number("Attempts"), "Last answer", .init(time)],
      empty: "There are none.", rows: events.filter { $0.state == state }.map(Self.row)
    ).html
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
