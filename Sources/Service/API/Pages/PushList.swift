internal import FoundationEssentials
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
    var columns: [Table.Column] = [.init(title: "Committed", name: "at"), .init(title: "Event", name: "event")]
    if !omitsUser { columns.append(.init(title: "User", name: "user")) }
    columns += [
      .init(title: "Outcome", name: "became"), .init(title: "To APNs", isNumber: true, name: "way"),
      .init(title: "Why", name: "why"),
    ]
    var table = Table(caption: caption, shape: .entry, columns: columns, empty: empty)
    table.rows = entries.map { entry in
      var cells = [Wording.time(entry.enqueuedAt, hasDate: hasDate), event(entry)]
      if !omitsUser {
        cells.append("<a href=\"\(DashboardLink.pushes(ofUser: entry.userID))\">\(Wording.shortID(entry.userID))</a>")
      }
      return cells + [outcome(entry), way(entry), explanation(entry)]
    }
    return table.html
  }

  private static func event(_ entry: LedgerEntry) -> HTML {
    guard let subject = entry.subjectID else { return "\(entry.kind)" }
    return """
      \(entry.kind) <a href="\(DashboardLink.pushes(ofSubject: subject))">\(Wording.shortID(subject))</a>
      """
  }

  private static func outcome(_ entry: LedgerEntry) -> HTML {
    "<span class=\"outcome\">\(Wording.decision(entry.decision)) \(Wording.reason(entry.reason))</span>"
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
