extension EventExplanation {
  /// Explanations for programs, as UTF-8: an object whose `events` has one member each. `openapi.yaml` has the schema
  /// (`Explanations`).
  package static func json(_ explanations: [EventExplanation]) -> [UInt8] {
    ExplanationsDocument(events: explanations.map(EventDocument.init)).json
  }
}

private struct ExplanationsDocument: JSONAnswer {
  let events: [EventDocument]
}

private struct EventDocument: Encodable {
  let subjectID: String
  let kind: String
  let known: Bool
  let summary: String
  let committedAt: String?
  let steps: [StepDocument]
  let recipients: [RecipientDocument]
  let hasMoreRecipients: Bool

  init(_ event: EventExplanation) {
    subjectID = event.subjectID
    kind = event.kind
    known = event.isKnown
    summary = event.summary
    committedAt = event.committedAt.map(TimeText.instant)
    steps = event.steps.map { StepDocument($0, committedAt: event.committedAt) }
    recipients = event.recipients.map { RecipientDocument($0, committedAt: event.committedAt) }
    hasMoreRecipients = event.hasMoreRecipients
  }
}

private struct RecipientDocument: Encodable {
  let userID: String
  let summary: String
  let decision: String?
  let reason: String?
  let pushLogID: String?
  let steps: [StepDocument]

  init(_ recipient: EventExplanation.Recipient, committedAt: Int64?) {
    userID = recipient.userID
    summary = recipient.summary
    decision = recipient.decision
    reason = recipient.reason
    pushLogID = recipient.pushLogID
    steps = recipient.steps.map { StepDocument($0, committedAt: committedAt) }
  }
}

private struct StepDocument: Encodable {
  let what: String
  let at: String
  /// Since the commit; absent when that is not known.
  let milliseconds: Double?
  let text: String
  let details: [EventExplanation.Detail]

  init(_ step: EventExplanation.Step, committedAt: Int64?) {
    what = step.what.rawValue
    at = TimeText.instant(step.at)
    milliseconds = committedAt.map { Double(step.at - $0) / 1000 }
    text = step.text
    details = step.details
  }
}
