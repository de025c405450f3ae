internal import FoundationEssentials
internal import PushRules
package import PushStore

/// Why an event's pushes were sent or not: what the database keeps, in words and in order.
package struct EventExplanation: Equatable, Sendable {
  package struct Recipient: Equatable, Sendable {
    /// The host's user id, in small letters.
    package let userID: String
    /// One plain sentence or a few: the outcome of the push, and why.
    package let summary: String
    /// `sent`, `held`, `skipped` or `failed`; nil when nothing is recorded.
    package let decision: String?
    /// The ledger's reason; nil without one.
    package let reason: String?
    /// The ledger's row, in small letters, by which the app reports the push as opened; nil without a row.
    package let pushLogID: String?
    /// What happened, the earliest first.
    package let steps: [Step]

    package init(
      userID: String, summary: String, decision: String? = nil, reason: String? = nil, pushLogID: String? = nil,
      steps: [Step]
    ) {
      self.userID = userID
      self.summary = summary
      self.decision = decision
      self.reason = reason
      self.pushLogID = pushLogID
      self.steps = steps
    }
  }

  package struct Step: Equatable, Sendable {
    /// What a step is about, for programs.
    package enum What: String, CaseIterable, Sendable {
      case committed, triggerFailed = "trigger_failed", unclaimed
      case woken, claimed, lostClaim = "lost_claim"
      case decided, released, remaining
      case attempt, parked, opened, unread, now
    }

    package let what: What
    /// When, by the database's clock; microseconds since 1970.
    package let at: Int64
    package let text: String
    /// What was known or answered then: names and values for people, in order.
    package let details: [Detail]

    package init(_ what: What = .now, at: Int64, text: String, details: [Detail] = []) {
      self.what = what
      self.at = at
      self.text = text
      self.details = details
    }
  }

  package struct Detail: Equatable, Sendable, Encodable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The subject's id, in small letters.
  package let subjectID: String
  package let kind: String
  /// Whether there is any trace of the event.
  package let isKnown: Bool
  /// One plain sentence or a few about the event as a whole.
  package let summary: String
  /// When it was committed, by the database's clock; microseconds since 1970. Nil when it is not known any more.
  package let committedAt: Int64?
  /// What happened to the event as a whole, not to one recipient; the earliest first.
  package let steps: [Step]
  /// Sorted by user id.
  package let recipients: [Recipient]
  package let hasMoreRecipients: Bool

  package init(
    subjectID: String, kind: String, isKnown: Bool = true, summary: String, committedAt: Int64?, steps: [Step] = [],
    recipients: [Recipient], hasMoreRecipients: Bool = false
  ) {
    self.subjectID = subjectID
    self.kind = kind
    self.isKnown = isKnown
    self.summary = summary
    self.committedAt = committedAt
    self.steps = steps
    self.recipients = recipients
    self.hasMoreRecipients = hasMoreRecipients
  }
}

extension EventExplanation {
  /// Puts into words what the database knows of an event. Pure: the same records make the same words.
  package init(_ records: EventRecords) {
    let event = records.event
    let committedAt = event.enqueuedAt ?? event.source?.createdAt
    let instances = Dictionary(records.instances.map { ($0.id, $0) }) { first, _ in first }
    let recipients = records.recipients.filter { !$0.goesWithoutSaying(in: records) }.map { recipient in
      Recipient(recipient, of: event, committedAt: committedAt, instances: instances)
    }
    self.init(
      subjectID: event.subjectID.text, kind: event.kind, isKnown: records.isKnown,
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
      userID: recipient.userID.text,
      summary: RecipientSummary(event: event, recipient: recipient, committedAt: committedAt).text,
      decision: recipient.ledger?.decision.rawValue, reason: recipient.ledger?.reason,
      pushLogID: recipient.ledger?.id.lowercased,
      steps: RecipientStory(event: event, recipient: recipient, instances: instances).steps)
  }
}

extension EventRecords {
  /// Whether there is any trace of the event, or of a recipient of it.
  var isKnown: Bool {
    event.isKnown || recipients.contains { $0.ledger != nil || $0.delivery != nil || $0.parked != nil }
  }
}

extension RecipientFacts {
  /// The actor expects no push about their own event; it is explained only on request.
  fileprivate func goesWithoutSaying(in records: EventRecords) -> Bool {
    isActor && ledger == nil && records.userID != userID
  }
}
