internal import PushStore

/// The claims of one push: those that left a record, and the numbers in between that did not.
struct RecordedClaims {
  /// In the order of their claims. The ledger has them as they were recorded, and what a slow claim has sent may be
  /// recorded behind the claim that followed it.
  let entries: [HistoryEntry]

  private let ofEvent: Set<Int>
  /// Of a long history the entries after the first half and before the newest half are not kept.
  private let cut: Range<Int>

  init(_ ledger: LedgerFacts, of event: EventFacts) {
    let recorded = ledger.history
    entries = recorded.enumerated().sorted { ($0.element.claim, $0.offset) < ($1.element.claim, $1.offset) }
      .map(\.element)
    ofEvent = Set(event.recordedClaims)
    let half = HistoryEntry.keptMax / 2
    guard recorded.count >= HistoryEntry.keptMax, let last = recorded[..<half].map(\.claim).max(),
      let next = recorded[half...].map(\.claim).filter({ $0 > last }).min()
    else {
      cut = 0..<0
      return
    }
    cut = last + 1..<next
  }

  /// Claims before an entry, and after the one before it, that left no record.
  func lost(before index: Int) -> [Int] { missing(before: index).filter { !cut.contains($0) } }

  /// How many claims before an entry may have been recorded, in the middle that is not kept.
  func cutCount(before index: Int) -> Int { missing(before: index).count { cut.contains($0) } }

  /// Before its first own record a push shares the claims of its event, which may be taken in several, each of other
  /// recipients.
  private func missing(before index: Int) -> [Int] {
    let first = (index > 0 ? entries[index - 1].claim : 0) + 1
    guard first < entries[index].claim else { return [] }
    return (first..<entries[index].claim).filter { index > 0 || !ofEvent.contains($0) }
  }

  /// A clause. Why there is no record is not known: the process may have died, or its look failed or came too late.
  static func words(ofLost claim: Int) -> String {
    "claim \(claim) left no record; if it had sent anything, it was sent again under the same apns-id, which the phone"
      + " shows once"
  }
}
