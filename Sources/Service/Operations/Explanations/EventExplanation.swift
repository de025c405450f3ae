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
    package var decision: String?
    /// The ledger's reason; nil without one.
    package var reason: String?
    /// The ledger's row, in small letters, by which the app reports the push as opened; nil without a row.
    package var pushLogID: String?
    /// What happened, the earliest first.
    package let steps: [Step]
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
  }

  /// The subject's id, in small letters.
  package let subjectID: String
  package let kind: String
  /// Whether there is any trace of the event.
  package var isKnown = true
  /// One plain sentence or a few about the event as a whole.
  package let summary: String
  /// When it was committed, by the database's clock; microseconds since 1970. Nil when it is not known any more.
  package let committedAt: Int64?
  /// What happened to the event as a whole, not to one recipient; the earliest first.
  package var steps: [Step] = []
  /// Sorted by user id.
  package let recipients: [Recipient]
  package var hasMoreRecipients = false
}

extension EventExplanation {
  /// Puts into words what the database knows of an event. Pure: the same records make the same words.
  package init(_ records: EventRecords) {
    let event = records.event
    let committedAt = event.enqueuedAt ?? event.source?.createdAt
    let instances = Dictionary(records.instances.map { ($0.id, $0) }) { first, _ in first }
    // The actor expects no push about their own event; it is explained only on request.
    let recipients = records.recipients.filter { !$0.isActor || $0.ledger != nil || records.userID == $0.userID }
    self.init(
      subjectID: event.subjectID.text, kind: event.kind, isKnown: records.isKnown,
      summary: EventSummary(records: records).text, committedAt: committedAt,
      steps: EventSummary.steps(of: event, committedAt: committedAt),
      recipients: recipients.map { recipient in
        Recipient(
          userID: recipient.userID.text,
          summary: RecipientSummary(event, recipient, committedAt: committedAt).text,
          decision: recipient.ledger?.decision.rawValue, reason: recipient.ledger?.reason,
          pushLogID: recipient.ledger?.id.lowercased,
          steps: RecipientStory(event, recipient, instances).steps)
      }, hasMoreRecipients: records.hasMore)
  }
}

extension EventRecords {
  /// Whether there is any trace of the event, or of a recipient of it.
  var isKnown: Bool {
    event.isKnown || recipients.contains { $0.ledger != nil || $0.delivery != nil || $0.parked != nil }
  }
}

extension EventExplanation {
  /// Explanations for programs, as UTF-8: an object whose `events` has one member each. `openapi.yaml` has the schema
  /// (`Explanations`).
  package static func json(_ explanations: [EventExplanation]) -> [UInt8] {
    Document(events: explanations.map(\.document)).json
  }

  private var document: Document.Event {
    Document.Event(
      subjectID: subjectID, kind: kind, known: isKnown, summary: summary,
      committedAt: committedAt.map(TimeText.instant), steps: documents(of: steps),
      recipients: recipients.map {
        Document.Recipient(
          userID: $0.userID, summary: $0.summary, decision: $0.decision, reason: $0.reason, pushLogID: $0.pushLogID,
          steps: documents(of: $0.steps))
      }, hasMoreRecipients: hasMoreRecipients)
  }

  private func documents(of steps: [Step]) -> [Document.Step] {
    steps.map { step in
      Document.Step(
        what: step.what.rawValue, at: TimeText.instant(step.at),
        milliseconds: committedAt.map { Double(step.at - $0) / 1000 }, text: step.text, details: step.details)
    }
  }

  private struct Document: JSONAnswer {
    struct Event: Encodable {
      let subjectID: String
      let kind: String
      let known: Bool
      let summary: String
      let committedAt: String?
      let steps: [Step]
      let recipients: [Recipient]
      let hasMoreRecipients: Bool
    }

    struct Recipient: Encodable {
      let userID: String
      let summary: String
      let decision: String?
      let reason: String?
      let pushLogID: String?
      let steps: [Step]
    }

    struct Step: Encodable {
      let what: String
      let at: String
      /// Since the commit; absent when that is not known.
      let milliseconds: Double?
      let text: String
      let details: [Detail]
    }

    let events: [Event]
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
