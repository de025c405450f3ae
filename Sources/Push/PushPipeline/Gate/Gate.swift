internal import PushRules
internal import PushStore

/// What is to happen for one recipient.
enum GateDecision: Equatable {
  /// Send to the devices that have not got it.
  case send
  /// Nothing to send now; this is what the ledger gets.
  case settled(RecipientOutcome)
}

extension RecipientOutcome {
  /// Whether nothing was sent because the message's life was over.
  var hasExpired: Bool { decision == .skipped && reason == DecisionReason.expired.rawValue }

  /// The same, but failed for this reason if there is one.
  func ended(by reason: String?) -> RecipientOutcome {
    guard let reason else { return self }
    return RecipientOutcome(userID: userID, decision: .failed, reason: reason)
  }
}

/// Applies the suppression rule to a recipient and words the result as an outcome.
struct Gate: Sendable {
  /// The window and the time to live.
  let policy: SuppressionPolicy

  func decision(for recipient: PushRecipient) -> GateDecision {
    guard recipient.isParticipant || recipient.situation.isDeleted else {
      return .settled(skip(recipient, reason: "not_participant"))
    }
    switch policy.decision(for: recipient.situation) {
    case .send:
      return recipient.devices.isEmpty ? .settled(alreadySent(to: recipient)) : .send
    case .skip(let reason):
      return .settled(skip(recipient, reason: reason.rawValue))
    case .hold(let duration, let reason):
      return .settled(hold(recipient, for: duration, reason: reason.rawValue))
    }
  }

  /// A push that one device already shows stays sent, whatever is learnt later; nothing remains to be done for it.
  private func alreadySent(to recipient: PushRecipient) -> RecipientOutcome {
    RecipientOutcome(userID: recipient.userID, decision: .sent, acceptedDevices: recipient.acceptedDevices)
  }

  private func skip(_ recipient: PushRecipient, reason: String) -> RecipientOutcome {
    guard recipient.acceptedDevices.isEmpty else { return alreadySent(to: recipient) }
    return RecipientOutcome(userID: recipient.userID, decision: .skipped, reason: reason)
  }

  private func hold(_ recipient: PushRecipient, for duration: Duration, reason: String) -> RecipientOutcome {
    guard recipient.acceptedDevices.isEmpty else { return alreadySent(to: recipient) }
    var outcome = RecipientOutcome(
      userID: recipient.userID, decision: .held, reason: reason, due: duration, remaining: .held)
    outcome.heldFor = recipient.situation.heldFor
    outcome.retries = recipient.retries
    return outcome
  }
}
