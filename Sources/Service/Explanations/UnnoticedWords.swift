internal import PushStore

/// Why an event that is there has no record, and no trace of one.
struct UnnoticedWords {
  let event: EventFacts

  private var noun: String { DecisionWords.event(of: event.kind) }

  /// A clause, with the end of its sentence.
  var clause: String {
    if let failure = event.triggerFailures.first(where: \.concernsEvent) {
      return
        "the trigger could not write the \(noun) to the inbox (SQLSTATE \(failure.sqlState)), and the service has not"
        + " fetched it from tacet.trigger_failures yet; \(WaitingWords(event: event).service)"
    }
    switch event.trigger {
    case "missing": return "the trigger on messages is missing, so no \(noun) is noticed; tacet migrate makes it."
    case "D": return "the trigger on messages is disabled, so no \(noun) is noticed; alter table ... enable trigger."
    default: break
    }
    if let created = event.source?.createdAt {
      if let since = event.watchedSince, created < since {
        return "the \(noun) is older than Tacet's trigger in this database."
      }
      if event.ledgerSince.map({ created < $0 }) ?? true {
        return "the \(noun) is older than what the ledger still has; a record of it has been pruned, if there was one."
      }
    }
    guard event.kind == "message" else { return "the \(noun) never came to the inbox, or concerned nobody." }
    // Discarded messages are counted only: a row for each of an import would be as many as its messages.
    return "the message never came to the inbox, concerned nobody, or was already too old when it was inserted."
  }
}
