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

extension EventExplanation {
  /// The explanation for people, in lines of at most 100 columns, the last one ended.
  ///
  /// First the event, then each recipient: the sentence, and the steps, each with its time since the commit. Without a
  /// known commit times are those of the day.
  package var text: String {
    var page = ExplanationPage(committedAt: committedAt)
    page.add("\(kind) \(subjectID)" + (committedAt.map { ", committed \(TimeText.instant($0))" } ?? ""))
    page.add(summary)
    page.add(steps)
    for recipient in recipients {
      page.skip()
      page.add("user \(recipient.userID)")
      page.add(recipient.summary, indent: 2)
      page.add(recipient.steps)
    }
    return page.text
  }
}

/// Lines of bounded length.
private struct ExplanationPage {
  private static let columns = 100
  /// The column of times, and where the text behind it begins.
  private static let timeWidth = 14
  private static let textColumn = 16
  private static let nameWidth = 15

  let committedAt: Int64?
  private(set) var text = ""

  init(committedAt: Int64?) {
    self.committedAt = committedAt
  }

  mutating func skip() { text += "\n" }

  mutating func add(_ paragraph: String, indent: Int = 0) {
    write(paragraph, first: Self.spaces(indent), column: indent)
  }

  mutating func add(_ steps: [EventExplanation.Step]) {
    for step in steps {
      write(step.text, first: Self.right(time(step.at), Self.timeWidth) + "  ", column: Self.textColumn)
      for detail in step.details {
        let name = Self.left(detail.name, Self.nameWidth)
        write(
          detail.value, first: Self.spaces(Self.textColumn + 2) + name, column: Self.textColumn + 2 + Self.nameWidth)
      }
    }
  }

  private func time(_ at: Int64) -> String {
    committedAt.map { TimeText.offset(at - $0) } ?? String(TimeText.instant(at).suffix(13))
  }

  /// Breaks between words; a word that is longer than a line has a line to itself.
  private mutating func write(_ paragraph: String, first: String, column: Int) {
    var line = first
    var isEmpty = true
    for word in paragraph.split(separator: " ") {
      if !isEmpty, line.count + 1 + word.count > Self.columns {
        text += line + "\n"
        (line, isEmpty) = (Self.spaces(column), true)
      }
      line += isEmpty ? word : " \(word)"
      isEmpty = false
    }
    text += line + "\n"
  }

  private static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
  private static func right(_ text: String, _ width: Int) -> String { spaces(width - text.count) + text }
  private static func left(_ text: String, _ width: Int) -> String { text + spaces(width - text.count) }
}
