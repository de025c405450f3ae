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

  package struct Detail: Equatable, Sendable {
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
    (["events": .list(explanations.map(\.document))] as PayloadObject).encoded()
  }

  private var document: PayloadObject {
    [
      "committed_at": .instant(committedAt), "has_more_recipients": .boolean(hasMoreRecipients), "kind": .text(kind),
      "known": .boolean(isKnown), "recipients": .list(recipients.map(document)), "steps": .list(steps.map(document)),
      "subject_id": .text(subjectID), "summary": .text(summary),
    ]
  }

  private func document(of recipient: Recipient) -> PayloadObject {
    [
      "decision": .text(recipient.decision), "push_log_id": .text(recipient.pushLogID),
      "reason": .text(recipient.reason), "steps": .list(recipient.steps.map(document)),
      "summary": .text(recipient.summary), "user_id": .text(recipient.userID),
    ]
  }

  /// With the milliseconds since the commit, where that is known.
  private func document(of step: Step) -> PayloadObject {
    [
      "at": .instant(step.at),
      "details": .list(step.details.map { ["name": .text($0.name), "value": .text($0.value)] }),
      "milliseconds": .decimal(committedAt.map { Double(step.at - $0) / 1000 }), "text": .text(step.text),
      "what": .text(step.what.rawValue),
    ]
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

extension EventExplanation {
  /// A user's pushes for people: a paragraph for each event, without its steps.
  /// - Parameter since: how far back they were asked for, in words.
  package static func text(_ explanations: [EventExplanation], ofUser userID: String, since: String) -> String {
    var page = ExplanationPage(committedAt: nil)
    guard !explanations.isEmpty else {
      page.add(
        "Nothing was decided about a push for user \(userID) in the last \(since): no event concerned the user, or the"
          + " service has not seen it. Ask about one with --message, and tacet doctor about the service.")
      return page.text
    }
    for explanation in explanations {
      let moment = explanation.committedAt.map(TimeText.instant) ?? ""
      page.add("\(moment) \(explanation.kind) \(explanation.subjectID)")
      for recipient in explanation.recipients { page.add(recipient.summary, indent: 2) }
    }
    page.skip()
    page.add(
      "\(CountWords.counted(explanations.count, "event")) of user \(userID), the newest first."
        + " The steps of one: tacet explain --message ID --user \(userID)")
    return page.text
  }
}

/// Lines of bounded length.
struct ExplanationPage {
  private static let columns = 100
  /// The column of times, and where the text behind it begins.
  private static let timeWidth = 14
  private static let textColumn = 16
  private static let nameWidth = 15
  private static let meaningColumn = 34

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

  /// A name and what it stands for.
  mutating func add(_ name: String, _ meaning: String) {
    write(meaning, first: Self.left("  \(name)", Self.meaningColumn - 2) + "  ", column: Self.meaningColumn)
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

extension InstanceFacts {
  var words: String { Self.words(of: id, host: host, pid: pid) }

  /// A process as people find it: where it is known on which machine it ran, by that.
  fileprivate static func words(of id: String, host: String?, pid: Int?) -> String {
    guard let host, let pid else { return "instance \(id)" }
    return "\(host), process \(pid) (instance \(id))"
  }
}

extension OwnerFacts {
  var words: String { InstanceFacts.words(of: id, host: host, pid: pid) }
}

/// An event as a whole: the outcome of its pushes, and what concerns no single recipient.
struct EventSummary {
  let records: EventRecords

  private var event: EventFacts { records.event }

  var text: String {
    guard let failure = event.hostFailure else { return story }
    return "\(story) The host's functions failed for it (\(failure)), so this is told from Tacet's own tables alone."
  }

  private var story: String {
    guard records.isKnown else { return unknown }
    if let parked = event.parked { return parked.words }
    if records.recipients.contains(where: { $0.ledger != nil }) { return counts }
    if let inbox = event.inbox { return "No push yet: \(event.waitingClause(inbox))" }
    if event.recordedCount > 0 { return "Nothing is recorded for the one who was asked about.\(more)" }
    if event.hostFailure != nil { return "Nothing was recorded of the \(event.noun)." }
    if event.source == nil { return "The \(event.noun) is gone, and nothing was recorded of it." }
    if records.userID == nil, !records.recipients.contains(where: { $0.isParticipant && !$0.isActor }) {
      return "Nobody was told, because nobody else takes part (no_recipients)."
    }
    return "Nobody was told: \(event.unnoticedClause)"
  }

  /// How many recipients, by the outcome of their pushes.
  private var counts: String {
    let decisions = records.recipients.filter { !$0.isActor || $0.ledger != nil }.map {
      $0.ledger?.decision.rawValue ?? "without a record"
    }
    let parts = ["sent", "held", "skipped", "failed", "without a record"].compactMap { name in
      let count = decisions.count { $0 == name }
      return count > 0 ? "\(count) \(name)" : nil
    }
    return "\(CountWords.counted(decisions.count, "recipient")): \(parts.joined(separator: ", ")).\(more)"
  }

  /// Recipients that are recorded, and not told about.
  private var more: String {
    let count = event.recordedCount - records.recipients.count { $0.ledger != nil }
    guard count > 0 else { return records.hasMore ? " There are more recipients; ask about one of them." : "" }
    let least = event.recordedCount >= EventFacts.countMax ? "at least " : ""
    return " Not told about here: \(least)\(CountWords.counted(count, "recipient")) more."
  }

  private var unknown: String {
    let since =
      event.ledgerSince.map { " The ledger begins on \(TimeText.instant($0)); what is older was pruned." } ?? ""
    let trigger =
      switch event.trigger {
      case "missing": " The trigger on messages is missing, so no message is noticed; tacet migrate makes it."
      case "D": " The trigger on messages is disabled, so no message is noticed."
      default: ""
      }
    let row = event.hostFailure == nil ? "there is no such row, and no record" : "there is no record"
    return "Nothing is known of a \(event.noun) with this id: \(row).\(trigger)\(since)"
  }

  /// The commit, errors of triggers, and what waits in the inbox.
  static func steps(of event: EventFacts, committedAt: Int64?) -> [EventExplanation.Step] {
    var steps: [EventExplanation.Step] = []
    if let committedAt {
      let isGone = event.source == nil && event.hostFailure == nil
      let created = event.source?.createdAt.map { "created_at says \(TimeText.instant($0))" }
      steps.append(
        .init(
          .committed, at: committedAt, text: isGone ? "committed; its row is gone by now" : "committed",
          details: created.map { [.init(name: "host", value: $0)] } ?? []))
    }
    steps += event.triggerFailures.map { failure in
      let whose = failure.concernsEvent ? "it kept this event from the inbox" : "about that time"
      return .init(
        .triggerFailed, at: failure.failedAt,
        text: "a trigger failed with SQLSTATE \(failure.sqlState), \(whose); tacet.trigger_failures has the text")
    }
    if let inbox = event.inbox {
      let details = [
        inbox.rescues > 0 ? EventExplanation.Detail(name: "lost claims", value: "\(inbox.rescues)") : nil,
        inbox.error.map { .init(name: "last error", value: $0) },
      ]
      let (owner, moment) = (event.owner?.words ?? "nobody", TimeText.instant(inbox.availableAt))
      let text =
        inbox.isClaimed
        ? "now: in the inbox under claim \(inbox.attempts), whose lease ends on \(moment); owned by \(owner)"
        : "now: in the inbox, to be decided since \(moment); owned by \(owner)"
      steps.append(.init(.unclaimed, at: event.now, text: text, details: details.compactMap { $0 }))
    }
    if let parked = event.parked { steps.append(parked.step) }
    return steps.sorted { $0.at < $1.at }
  }
}

extension ParkedFacts {
  var words: String {
    "No push: it was set aside (parked) after \(CountWords.counted(attempts, "claim")), with this reason: \(reason)."
      + " Mend that, then call tacet.replay."
  }

  var step: EventExplanation.Step { .init(.parked, at: parkedAt, text: "set aside (parked): \(reason)") }
}

// Clauses with the end of their sentences.
extension EventFacts {
  /// A service that was seen within this time runs; it says so every few seconds.
  private static let seenWithin: Int64 = 60_000_000

  /// What its kind of event is called.
  var noun: String { KnownKinds.words(ofEventKind: kind).event }

  /// Why an event that is there has no record, and no trace of one.
  var unnoticedClause: String {
    if let failure = triggerFailures.first(where: \.concernsEvent) {
      return
        "the trigger could not write the \(noun) to the inbox (SQLSTATE \(failure.sqlState)), and the service has not"
        + " fetched it from tacet.trigger_failures yet; \(serviceClause)"
    }
    switch trigger {
    case "missing": return "the trigger on messages is missing, so no \(noun) is noticed; tacet migrate makes it."
    case "D": return "the trigger on messages is disabled, so no \(noun) is noticed; alter table ... enable trigger."
    default: break
    }
    if let created = source?.createdAt {
      if let watchedSince, created < watchedSince {
        return "the \(noun) is older than Tacet's trigger in this database."
      }
      if ledgerSince.map({ created < $0 }) ?? true {
        return "the \(noun) is older than what the ledger still has; a record of it has been pruned, if there was one."
      }
    }
    guard kind == MessagePush.eventKind else { return "the \(noun) never came to the inbox, or concerned nobody." }
    // Discarded messages are counted only: a row for each of an import would be as many as its messages.
    return "the message never came to the inbox, concerned nobody, or was already too old when it was inserted."
  }

  /// What an undecided event waits for.
  func waitingClause(_ inbox: InboxFacts) -> String {
    let age = TimeText.span(max(0, now - inbox.enqueuedAt))
    if let error = inbox.error { return "the \(noun) could not be looked at, \(age) after its commit: \(error)." }
    if inbox.isClaimed, inbox.availableAt > now {
      return "claim \(inbox.attempts) of the \(noun) is at work, or has died; the next may begin in"
        + " \(TimeText.span(inbox.availableAt - now)), or as soon as another process takes over."
    }
    return "the \(noun) has been in the inbox for \(age), and is not decided; \(ownerClause)"
  }

  /// Who is to take up what waits. An owner writes nothing when it takes a message, so what it has in hand only it knows.
  var ownerClause: String {
    guard let owner, let leaseUntil = owner.leaseUntil else { return serviceClause }
    return leaseUntil > now
      ? "it belongs to \(owner.words), which has it in hand or takes it next."
      : "its owner, \(owner.words), lost its lease \(TimeText.span(now - leaseUntil)) ago; \(serviceClause)"
  }

  /// Whether a service is there to claim.
  var serviceClause: String {
    guard let serviceSeenAt else { return "no service was ever seen on this database: is it running?" }
    let age = TimeText.span(now - serviceSeenAt)
    return now - serviceSeenAt > Self.seenWithin
      ? "no service has been seen for \(age): is it running?"
      : "a service was seen \(age) ago, and should take it up at once."
  }
}
