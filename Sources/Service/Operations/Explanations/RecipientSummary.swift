internal import PushRules
internal import PushStore

/// The outcome of one recipient's push, and why, in a sentence or a few.
struct RecipientSummary {
  private let event: EventFacts
  private let recipient: RecipientFacts
  private let committedAt: Int64?
  private let claims: RecordedClaims

  init(_ event: EventFacts, _ recipient: RecipientFacts, committedAt: Int64?) {
    (self.event, self.recipient, self.committedAt) = (event, recipient, committedAt)
    claims = RecordedClaims(recipient.ledger?.history ?? [], of: event)
  }

  var text: String {
    guard let ledger = recipient.ledger else { return withoutRecord }
    let story =
      switch ledger.decision {
      case .sent: sent(ledger)
      case .held: held(ledger)
      case .skipped: skipped(ledger)
      case .failed: failed(ledger)
      }
    return ledger.opened ? "\(story) The user has opened it." : story
  }

  private var history: [HistoryEntry] { claims.entries }

  private func clause(_ reason: String?, _ entry: HistoryEntry?) -> String {
    guard let reason else { return "of a reason that was not kept" }
    guard let known = entry?.situation else { return "the ledger says \(reason)" }
    return DecisionWords(kind: event.kind, known: known).clause(for: reason) ?? RefusalWords.described(reason)
  }

  private func skipped(_ ledger: LedgerFacts) -> String {
    if ledger.reason == ShadowedKinds.reason {
      // Built, and not sent.
      let devices = CountWords.counted(lastAttempts.count { $0.verdict == ShadowedKinds.reason }, "device")
      let sentence =
        "Shadow: would have been sent to \(devices)\(delay(ledger)). SHADOW is set, so nothing was sent."
      return sentences(sentence, holdSentence, restSentence)
    }
    let hold = history.last { $0.remaining == "held" }
    return sentences(
      "No push, because \(clause(ledger.reason, history.last)).",
      hold.map { "Until then it was held, because \(clause($0.reason, $0))." })
  }

  // MARK: Sent

  private func sentences(_ sentences: String?...) -> String { sentences.compactMap { $0 }.joined(separator: " ") }

  private func delay(_ ledger: LedgerFacts) -> String {
    guard let sentAt = ledger.sentAt, let committedAt else { return "" }
    return ", \(TimeText.span(max(0, sentAt - committedAt))) after the \(event.noun)"
  }

  private func sent(_ ledger: LedgerFacts) -> String {
    let devices = CountWords.counted(ledger.devicesAccepted, "device")
    let update = history.last?.fold.flatMap { $0.sounds ? nil : $0 }
    let push = update.map { "A silent update of the notification of its burst (+\($0.more) more)" } ?? "A push"
    // Whether an earlier claim may also have sent it.
    let lost = history.indices.lazy.flatMap { claims.lost(before: $0) }.first
    let takenOver = history.first?.isTakenOver == true ? "It was claimed \(RecordedClaims.takeOver)." : nil
    return sentences(
      "\(push) was sent: it was accepted for \(devices)\(delay(ledger)).", holdSentence,
      lost.map { "C\(RecordedClaims.words(ofLost: $0).dropFirst())." } ?? takenOver, restSentence)
  }

  private var holdSentence: String? {
    guard let held = history.lastIndex(where: { $0.remaining == "held" }), held + 1 < history.count else { return nil }
    let end =
      history[held + 1].releasedBy.map { CauseWords.release($0, of: event.noun) } ?? "the time of the hold was over"
    return "Until then it was held, because \(clause(history[held].reason, history[held])); then \(end)."
  }

  /// Devices that did not get it, or not yet.
  private var restSentence: String? {
    let rest = lastAttempts.filter { !["accepted", ShadowedKinds.reason].contains($0.verdict) }
    let open = recipient.delivery == nil ? [] : rest.filter { ["postponed", "waiting"].contains($0.verdict) }
    let ended = rest.filter { attempt in !open.contains { $0.device == attempt.device } }
    func words(_ lead: String, _ attempts: [HistoryEntry.Attempt]) -> String? {
      attempts.isEmpty ? nil : "\(lead) \(attempts.map { "\($0.device): \($0.why)" }.joined(separator: "; "))."
    }
    let sentences = sentences(words("Not for", ended), words("Still to go to", open))
    return sentences.isEmpty ? nil : sentences
  }

  private var lastAttempts: [HistoryEntry.Attempt] { Self.lastAttempts(history) }

  /// What each device's last attempt has brought, in the order in which the devices were first tried.
  private static func lastAttempts(_ history: [HistoryEntry]) -> [HistoryEntry.Attempt] {
    history.flatMap(\.attempts).filter { !["elsewhere", "impossible"].contains($0.verdict) }.reduce(into: []) {
      last, attempt in
      if let index = last.firstIndex(where: { $0.device == attempt.device }) {
        last[index] = attempt
      } else {
        last.append(attempt)
      }
    }
  }

  // MARK: Not yet, or failed

  private func held(_ ledger: LedgerFacts) -> String {
    let entry = history.last { $0.remaining != nil } ?? history.last
    return "No push yet, because \(clause(ledger.reason, entry)). \(again)"
  }

  private var again: String {
    guard let delivery = recipient.delivery else { return "Nothing waits for it any more, so it will not be sent." }
    if delivery.isClaimed { return "It is being looked at." }
    if let lane = delivery.lane { return "It goes as soon as \(lane) takes pushes again." }
    let wait = delivery.dueAt - event.now
    guard wait > 0 else { return "It has been due for \(TimeText.span(wait)); \(event.ownerClause)" }
    return "It is looked at again in \(TimeText.span(wait)), or as soon as something is learnt."
  }

  private func failed(_ ledger: LedgerFacts) -> String {
    if let parked = recipient.parked, ledger.reason == "parked" { return parked.words }
    let attempts = Self.lastAttempts(history.suffix(1))
    guard attempts.count == 1, let attempt = attempts.first, let reason = attempt.reason else {
      let why = ledger.reason.map { RefusalWords.described($0) } ?? "no reason was kept"
      return "No push, although it should have been sent to \(CountWords.counted(attempts.count, "device")): \(why)."
    }
    let dropped = attempt.verdict == "dropped" ? " The token was dropped." : ""
    return "No push: it was to go to device \(attempt.device), but \(RefusalWords.described(reason)).\(dropped)"
  }

  // MARK: No record

  private var withoutRecord: String {
    if recipient.isActor {
      return "No push, because the \(event.noun) is the user's own: nobody is told of what they did."
    }
    if let parked = recipient.parked ?? event.parked { return parked.words }
    if let inbox = event.inbox, recipient.isParticipant || event.hostFailure != nil {
      return "No push yet: \(event.waitingClause(inbox))"
    }
    if !event.isKnown { return "Nothing is known of such an event, for anybody." }
    if let failure = event.hostFailure {
      return
        "Nothing is recorded for the user; whether it concerns them is not known, because the host's functions failed"
        + " (\(failure))."
    }
    guard recipient.isParticipant else {
      return "No push, because the user does not take part in what it is about, and no record says that they did."
    }
    if event.recordedCount > 0 {
      return
        "No push: nothing is recorded for the user, who takes part now and did not when the \(event.noun) was decided."
    }
    return "No push: \(event.unnoticedClause)"
  }
}

/// The claims of one push: those that left a record, and the numbers in between that did not.
struct RecordedClaims {
  /// In the order of their claims. The ledger has them as they were recorded, and what a slow claim has sent may be
  /// recorded behind the claim that followed it.
  let entries: [HistoryEntry]

  private let ofEvent: Set<Int>
  /// Of a long history the entries after the first half and before the newest half are not kept.
  private let cut: Range<Int>

  /// - Parameter recorded: in the order of the ledger.
  init(_ recorded: [HistoryEntry], of event: EventFacts) {
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

  /// The most claims without a record that are named before one entry. Far more than a push has in its life; a row that
  /// somebody has written may name any.
  private static let lostMax = 100

  /// The first claims before an entry, and after the one before it, that left no record. Before its first own record a push
  /// shares the claims of its event, which may be taken in several, each of other recipients.
  func lost(before index: Int) -> [Int] {
    let missing = missing(before: index)
    let kept = [missing.clamped(to: 0..<cut.lowerBound), missing.clamped(to: cut.upperBound..<Int.max)]
    return Array(kept.lazy.joined().filter { index > 0 || !ofEvent.contains($0) }.prefix(Self.lostMax))
  }

  /// How many claims before an entry are not named: those in the middle that is not kept, which may have been recorded, and
  /// those beyond the bound.
  func cutCount(before index: Int) -> Int {
    let missing = missing(before: index)
    let ofOthers = index > 0 ? 0 : ofEvent.count { missing.contains($0) }
    return missing.count - ofOthers - lost(before: index).count
  }

  private func missing(before index: Int) -> Range<Int> {
    let first = (index > 0 ? entries[index - 1].claim : 0) + 1
    return first..<max(first, entries[index].claim)
  }

  /// The end of a clause. An owner takes a message without a trace, so whether the one before had it is not known.
  static let takeOver =
    "after a change of its owner; if the one before had sent it, it was sent again under the same apns-id, which the phone"
    + " shows once"

  /// A clause. Why there is no record is not known: the process may have died, or its look failed or came too late.
  static func words(ofLost claim: Int) -> String {
    "claim \(claim) left no record; if it had sent anything, it was sent again under the same apns-id, which the phone"
      + " shows once"
  }
}
