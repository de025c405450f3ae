internal import PushRules
internal import PushStore

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
      let end = TimeText.instant(inbox.availableAt)
      let text =
        inbox.isClaimed
        ? "now: in the inbox under claim \(inbox.attempts), whose lease ends on \(end)"
        : "now: in the inbox, for anybody to claim since \(end)"
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
        + " \(TimeText.span(inbox.availableAt - now))."
    }
    return "the \(noun) has been in the inbox for \(age), and nobody has claimed it; \(serviceClause)"
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
