internal import FoundationEssentials
public import PushStore

extension EventExplanation {
  /// Puts into words what the database knows of an event. Pure: the same records make the same words.
  public init(_ records: EventRecords) {
    let event = records.event
    let committedAt = event.enqueuedAt ?? event.source?.createdAt
    let instances = Dictionary(records.instances.map { ($0.id, $0) }) { first, _ in first }
    let recipients = records.recipients.filter { !$0.goesWithoutSaying(in: records) }.map { recipient in
      Recipient(recipient, of: event, committedAt: committedAt, instances: instances)
    }
    self.init(
      subjectID: event.subjectID.uuidString.lowercased(), kind: event.kind, isKnown: records.isKnown,
      summary: EventSummary(records: records).text, committedAt: committedAt,
      steps: EventSummary.steps(of: event, committedAt: committedAt), recipients: recipients,
      hasMoreRecipients: records.hasMore)
  }
}

extension EventExplanation.Recipient {
  fileprivate init(
    _ recipient: RecipientFacts, of event: EventFacts, committedAt: Int64?, instances: [String: InstanceFacts]
  ) {
    self.init(
      userID: recipient.userID.uuidString.lowercased(),
      summary: RecipientSummary(event: event, recipient: recipient, committedAt: committedAt).text,
      decision: recipient.ledger?.decision.rawValue, reason: recipient.ledger?.reason,
      pushLogID: recipient.ledger?.id.uuidString.lowercased(),
      steps: RecipientStory(event: event, recipient: recipient, instances: instances).steps)
  }
}

extension EventRecords {
  /// Whether there is any trace of the event, or of somebody's part in it.
  var isKnown: Bool {
    event.isKnown || recipients.contains { $0.ledger != nil || $0.delivery != nil || $0.parked != nil }
  }
}

extension RecipientFacts {
  /// Nobody expects a push about what they did themselves; it is said to those who ask.
  fileprivate func goesWithoutSaying(in records: EventRecords) -> Bool {
    isActor && ledger == nil && records.userID != userID
  }
}
