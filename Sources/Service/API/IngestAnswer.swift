internal import FoundationEssentials
internal import Operations
internal import PushRules
internal import PushStore

/// The answer to a webhook or to a submitted push: the outcome of the event for each recipient.
struct IngestAnswer {
  private let subject: PushSubject
  /// The ledger's row of a submitted push; nil for a webhook.
  private let logID: UUID?
  /// Nil while the event is undecided.
  private let outcomes: [RecordedOutcome]?

  /// - Parameters:
  ///   - logID: the ledger's row of a submitted push; nil for a webhook.
  ///   - outcomes: nil while the event is undecided.
  init(_ subject: PushSubject, logID: UUID? = nil, outcomes: [RecordedOutcome]?) {
    self.subject = subject
    self.logID = logID
    self.outcomes = outcomes
  }

  /// The reason that all recipients share, if they do.
  var reason: String? {
    guard let outcomes else { return nil }
    guard let first = outcomes.first else { return "no_recipients" }
    return outcomes.allSatisfy { $0.reason == first.reason } ? first.reason : nil
  }

  /// The document in UTF-8, its members in the order of their names.
  var json: [UInt8] {
    let isMessage = subject.kind == MessagePush.name
    let isSent = outcomes?.contains { $0.decision == .sent } ?? false
    var object = PayloadObject()
    if logID == nil, isMessage { object["message_id"] = Self.text(subject.id) }
    object["push_id"] = logID.map { _ in Self.text(subject.id) }
    object["push_log_id"] = logID.map { Self.text(HostID($0)) }
    object["reason"] = reason.map(PayloadValue.string)
    object["recipients"] = .array((outcomes ?? []).map { .object(Self.document($0)) })
    object["sent"] = .boolean(isSent)
    object["skipped"] = .boolean(outcomes != nil && !isSent)
    if logID == nil, !isMessage { object["subject_id"] = Self.text(subject.id) }
    return object.encoded()
  }

  private static func document(_ outcome: RecordedOutcome) -> PayloadObject {
    var object = PayloadObject()
    object["decision"] = .string(outcome.decision.rawValue)
    object["devices"] = outcome.devicesAccepted > 0 ? .integer(Int64(outcome.devicesAccepted)) : nil
    object["reason"] = outcome.reason.map(PayloadValue.string)
    object["until"] = outcome.heldUntil.map { .string(TimeText.instant($0)) }
    object["user_id"] = text(outcome.userID)
    return object
  }

  private static func text(_ id: HostID) -> PayloadValue { .string(id.text) }
}
