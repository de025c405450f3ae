internal import PushRules
internal import PushStore

/// The outcome of one recipient's push, and why, in a sentence or a few.
struct RecipientSummary {
  let event: EventFacts
  let recipient: RecipientFacts
  let committedAt: Int64?

  var text: String {
    guard let ledger = recipient.ledger else { return withoutRecord }
    let story = story(ledger)
    return ledger.opened ? "\(story) The user has opened it." : story
  }

  private var noun: String { DecisionWords.event(of: event.kind) }

  private func story(_ ledger: LedgerFacts) -> String {
    switch ledger.decision {
    case .sent: sent(ledger)
    case .held: held(ledger)
    case .skipped: skipped(ledger)
    case .failed: failed(ledger)
    }
  }

  private func history(_ ledger: LedgerFacts) -> [HistoryEntry] { RecordedClaims(ledger, of: event).entries }

  private func clause(_ reason: String?, _ entry: HistoryEntry?) -> String {
    guard let reason else { return "of a reason that was not kept" }
    guard let known = entry?.situation else { return "the ledger says \(reason)" }
    return DecisionWords(kind: event.kind, known: known).clause(for: reason) ?? RefusalWords.described(reason)
  }

  private func skipped(_ ledger: LedgerFacts) -> String {
    if ledger.reason == ShadowedKinds.reason { return shadowed(ledger) }
    let sentence = "No push, because \(clause(ledger.reason, history(ledger).last))."
    let hold = history(ledger).last { $0.remaining == "held" }
    return hold.map { "\(sentence) Until then it was held, because \(clause($0.reason, $0))." } ?? sentence
  }

  /// A push that was built and not sent.
  private func shadowed(_ ledger: LedgerFacts) -> String {
    let devices = Self.verdicts(history(ledger)).count { $0.verdict == ShadowedKinds.reason }
    let sentence =
      "Shadow: would have been sent to \(CountWords.devices(devices))\(delay(ledger)). SHADOW is set, so nothing was sent."
    return ([sentence] + [holdSentence(ledger), restSentence(ledger)].compactMap { $0 }).joined(separator: " ")
  }

  // MARK: Sent

  private func delay(_ ledger: LedgerFacts) -> String {
    guard let sentAt = ledger.sentAt, let committedAt else { return "" }
    return ", \(TimeText.span(max(0, sentAt - committedAt))) after the \(noun)"
  }

  private func sent(_ ledger: LedgerFacts) -> String {
    let push = FoldWords.push(history(ledger).last)
    let devices = CountWords.devices(ledger.devicesAccepted)
    let sentence = "\(push) was sent: APNs accepted it for \(devices)\(delay(ledger))."
    return ([sentence] + [holdSentence(ledger), lossSentence(ledger), restSentence(ledger)].compactMap { $0 })
      .joined(separator: " ")
  }

  private func holdSentence(_ ledger: LedgerFacts) -> String? {
    let history = self.history(ledger)
    guard let held = history.lastIndex(where: { $0.remaining == "held" }), held + 1 < history.count else { return nil }
    let end =
      history[held + 1].releasedBy.map { CauseWords.release($0, kind: event.kind) } ?? "the time of the hold was over"
    return "Until then it was held, because \(clause(history[held].reason, history[held])); then \(end)."
  }

  /// Whether an earlier claim may also have sent it.
  private func lossSentence(_ ledger: LedgerFacts) -> String? {
    let claims = RecordedClaims(ledger, of: event)
    return claims.entries.indices.lazy.flatMap { claims.lost(before: $0) }.first.map {
      "C\(RecordedClaims.words(ofLost: $0).dropFirst())."
    }
  }

  /// Devices that did not get it, or not yet.
  private func restSentence(_ ledger: LedgerFacts) -> String? {
    let rest = Self.verdicts(history(ledger)).filter {
      !["accepted", ShadowedKinds.reason].contains($0.verdict)
    }
    let open = recipient.delivery == nil ? [] : rest.filter { ["postponed", "waiting"].contains($0.verdict) }
    let ended = rest.filter { attempt in !open.contains { $0.device == attempt.device } }
    func words(_ lead: String, _ attempts: [HistoryEntry.Attempt]) -> String? {
      guard !attempts.isEmpty else { return nil }
      let devices = attempts.map { attempt in
        let why = attempt.reason.map { RefusalWords.described($0, by: attempt.service) }
        return "\(attempt.device): \(why ?? "no reason was given")"
      }
      return "\(lead) \(devices.joined(separator: "; "))."
    }
    let sentences = [words("Not for", ended), words("Still to go to", open)].compactMap { $0 }
    return sentences.isEmpty ? nil : sentences.joined(separator: " ")
  }

  /// What each device's last attempt has brought, in the order in which the devices were first tried.
  private static func verdicts(_ history: [HistoryEntry]) -> [HistoryEntry.Attempt] {
    let attempts = history.flatMap(\.attempts).filter { !["elsewhere", "impossible"].contains($0.verdict) }
    var last: [HistoryEntry.Attempt] = []
    for attempt in attempts {
      if let index = last.firstIndex(where: { $0.device == attempt.device }) {
        last[index] = attempt
      } else {
        last.append(attempt)
      }
    }
    return last
  }

  // MARK: Not yet

  private func held(_ ledger: LedgerFacts) -> String {
    let entry = history(ledger).last { $0.remaining != nil } ?? history(ledger).last
    return "No push yet, because \(clause(ledger.reason, entry)). \(again(ledger))"
  }

  private func again(_ ledger: LedgerFacts) -> String {
    guard let delivery = recipient.delivery else { return "Nothing waits for it any more, so it will not be sent." }
    if delivery.isClaimed { return "It is being looked at." }
    if let lane = delivery.lane { return "It goes as soon as \(lane) takes pushes again." }
    let wait = delivery.dueAt - event.now
    guard wait > 0 else { return "It has been due for \(TimeText.span(wait)); \(serviceWords)" }
    return "It is looked at again in \(TimeText.span(wait)), or as soon as something is learnt."
  }

  // MARK: Failed

  private func failed(_ ledger: LedgerFacts) -> String {
    if let parked = recipient.parked, ledger.reason == "parked" { return Self.parked(parked) }
    let attempts = Self.verdicts(history(ledger).suffix(1))
    guard attempts.count == 1, let attempt = attempts.first, let reason = attempt.reason else {
      let why = ledger.reason.map({ RefusalWords.described($0) }) ?? "no reason was kept"
      return "No push, although it should have been sent to \(CountWords.devices(attempts.count)): \(why)."
    }
    let dropped = attempt.verdict == "dropped" ? " The token was dropped." : ""
    return "No push: it was to go to device \(attempt.device), but \(RefusalWords.described(reason)).\(dropped)"
  }

  static func parked(_ parked: ParkedFacts) -> String {
    "No push: it was set aside (parked) after \(CountWords.counted(parked.attempts, "claim")), with this reason:"
      + " \(parked.reason). Mend that, then call tacet.replay."
  }

  // MARK: No record

  private var withoutRecord: String {
    if recipient.isActor { return "No push, because the \(noun) is the user's own: nobody is told of what they did." }
    if let parked = recipient.parked ?? event.parked { return Self.parked(parked) }
    if let inbox = event.inbox, recipient.isParticipant || event.hostFailure != nil {
      return "No push yet: \(WaitingWords(event: event).clause(inbox))"
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
      return "No push: nothing is recorded for the user, who takes part now and did not when the \(noun) was decided."
    }
    return "No push: \(UnnoticedWords(event: event).clause)"
  }

  private var serviceWords: String { WaitingWords(event: event).service }
}

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

  /// A clause. Why there is no record is not known: the process may have died, or its look failed or came too late.
  static func words(ofLost claim: Int) -> String {
    "claim \(claim) left no record; if it had sent anything, it was sent again under the same apns-id, which the phone"
      + " shows once"
  }
}
