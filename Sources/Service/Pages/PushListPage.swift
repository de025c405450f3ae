internal import FoundationEssentials
internal import PushStore

/// A page of a user's pushes, or of an event's recipients.
struct PushListPage {
  let title: String
  let id: UUID
  let ledger: LedgerPage
  let isUser: Bool
  let isFirst: Bool
  /// The address of what comes behind the last row.
  let next: String?

  init(title: String, id: UUID, page: LedgerPage, isUser: Bool, isFirst: Bool, next: String?) {
    self.title = title
    self.id = id
    ledger = page
    self.isUser = isUser
    self.isFirst = isFirst
    self.next = next
  }

  var page: Page {
    let id = id.uuidString.lowercased()
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
