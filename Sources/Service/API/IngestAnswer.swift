internal import Explanations
internal import FoundationEssentials
internal import PushStore

/// The answer to a webhook: the outcome of the event for each recipient.
struct IngestAnswer: JSONAnswer {
  /// One recipient's part.
  struct Recipient: Encodable {
    let userID: String
    let decision: String
    let reason: String?
    let until: String?
    let devices: Int?
  }

  /// Nil for what is no message.
  let messageID: String?
  /// Nil for a message.
  let subjectID: String?
  let sent: Bool
  let skipped: Bool
  let reason: String?
  let recipients: [Recipient]

  /// An event that is still on its way.
  init(pending subject: PushSubject) {
    (messageID, subjectID) = Self.names(of: subject)
    sent = false
    skipped = false
    reason = nil
    recipients = []
  }

  /// A decided event.
  init(_ subject: PushSubject, outcomes: [RecordedOutcome]) {
    (messageID, subjectID) = Self.names(of: subject)
    sent = outcomes.contains { $0.decision == .sent }
    skipped = !sent
    reason = Self.sharedReason(of: outcomes)
    recipients = outcomes.map(Recipient.init)
  }

  private static func names(of subject: PushSubject) -> (messageID: String?, subjectID: String?) {
    let id = subject.id.uuidString.lowercased()
    return subject.kind == PushSubject.messageKind ? (id, nil) : (nil, id)
  }

  private static func sharedReason(of outcomes: [RecordedOutcome]) -> String? {
    guard let first = outcomes.first else { return "no_recipients" }
    return outcomes.allSatisfy { $0.reason == first.reason } ? first.reason : nil
  }
}

extension IngestAnswer.Recipient {
  fileprivate init(_ outcome: RecordedOutcome) {
    userID = outcome.userID.uuidString.lowercased()
    decision = outcome.decision.rawValue
    reason = outcome.reason
    until = outcome.heldUntil.map(TimeText.instant)
    devices = outcome.devicesAccepted > 0 ? outcome.devicesAccepted : nil
  }
}
