// One recipient of one message.
extension CrashBooks {
  /// Half a second for one statement, on a machine that has a database just started and everything else to do.
  private static let claimMicroseconds: Int64 = 500_000

  func violations(of message: HostMessage, for recipient: HostRecipient) -> [Violation] {
    var found: [Violation] = []
    func expect(_ holds: Bool, _ text: String, _ kind: Violation.Kind = .wrong) {
      if !holds {
        found.append(
          Violation(kind: kind, message: message.id, text: "\(recipient.situation) \(recipient.user): \(text)"))
      }
    }
    let rows = ledger.rows[LedgerBook.Place(message: message.id, user: recipient.user)] ?? []
    expect(rows.count <= 1, "\(rows.count) ledger rows")
    expect(!rows.isEmpty || message.mayBeDeleted, "no final state", .lost)
    let arrivals = recipient.devices.map { wire.arrivals(of: message, at: $0) }
    if let row = rows.first {
      expect(
        outcomes(of: recipient, message).contains("\(row.decision) \(row.reason)"),
        "ends as \(row.decision) \(row.reason)", row.decision == "held" || row.decision == "failed" ? .lost : .wrong)
      expect(row.decision != "sent" || arrivals.contains { !$0.isEmpty }, "sent, but nothing was accepted", .lost)
      expect(row.decision != "sent" || (1...recipient.devices.count).contains(row.devicesAccepted), "devices accepted")
      if row.decision == "sent", let text = objection(toClaim: row, of: message, for: recipient) { expect(false, text) }
    }
    if mustBePushed(message, to: recipient) {
      expect(!arrivals.contains { $0.isEmpty }, "not accepted for every device", .lost)
    }
    if let first = arrivals.joined().map(\.at).min(),
      let text = objection(toArrival: first, of: message, for: recipient)
    {
      expect(false, text)
    }
    return found
  }

  /// What the ledger may say in the end, as `decision reason`.
  private func outcomes(of recipient: HostRecipient, _ message: HostMessage) -> Set<String> {
    let outcomes: Set<String> =
      switch recipient.situation {
      case .tokenless: ["skipped no_tokens"]
      case .hasRead: ["skipped already_read"]
      case .reading where message.followUpBegan != nil: ["sent ", "skipped already_read"]
      case .looking: ["sent ", "skipped user_viewing"]
      case .away, .glimpsing, .leaving, .reading: ["sent "]
      }
    return message.mayBeDeleted ? outcomes.union(["skipped deleted"]) : outcomes
  }

  private func mustBePushed(_ message: HostMessage, to recipient: HostRecipient) -> Bool {
    switch recipient.situation {
    case .away, .glimpsing, .leaving: !message.mayBeDeleted
    case .reading: message.followUpBegan == nil
    case .looking, .tokenless, .hasRead: false
    }
  }

  /// Why the claim under which the ledger says that it was sent cannot have been right.
  private func objection(
    toClaim row: LedgerBook.Row, of message: HostMessage, for recipient: HostRecipient
  ) -> String? {
    if let done = message.followUpDone, message.followUp != .leave, row.claimedAt > done + Self.claimMicroseconds {
      return "sent by a claim \(row.claimedAt - done) us after it was read or deleted"
    }
    guard recipient.situation == .looking else { return nil }
    let messageAt = max(row.enqueuedAt, message.createdAt ?? 0)
    return judgement(of: recipient).mayBeAbsent(messageAt: messageAt, claimedAt: row.claimedAt)
      ? nil : "sent by a claim while looking"
  }

  private func judgement(of recipient: HostRecipient) -> PresenceJudgement {
    PresenceJudgement(
      reports: reports[recipient.user] ?? [], windowMicroseconds: windowMicroseconds,
      claimMicroseconds: Self.claimMicroseconds)
  }

  /// Why the first accepted push cannot have been right at its time.
  private func objection(
    toArrival arrivedAt: Int64, of message: HostMessage, for recipient: HostRecipient
  ) -> String? {
    guard let createdAt = message.createdAt else { return nil }
    switch recipient.situation {
    case .hasRead, .tokenless: return "pushed"
    case .away, .reading: return nil
    case .glimpsing:
      let end = createdAt + windowMicroseconds
      if let done = message.followUpDone, done < end - Self.claimMicroseconds {
        return "pushed, though it was deleted within the window"
      }
      return arrivedAt < end ? "pushed \(end - arrivedAt) us before the window ended" : nil
    case .leaving:
      let end = min(createdAt + windowMicroseconds, message.followUpBegan ?? .max)
      return arrivedAt < end ? "pushed \(end - arrivedAt) us before they left" : nil
    case .looking:
      let place = LedgerBook.Place(message: message.id, user: recipient.user)
      let messageAt = max(createdAt, ledger.rows[place]?.first?.enqueuedAt ?? 0)
      return judgement(of: recipient).mayHaveBeenAbsent(messageAt: messageAt, arrivedAt: arrivedAt)
        ? nil : "pushed while looking"
    }
  }
}
