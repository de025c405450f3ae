import Testing

@testable import Operations
@testable import PushStore

@Suite("Where nothing is recorded")
struct UnrecordedTests {
  @Test("the sender hears that nobody is told of their own, when it is asked about them")
  func sender() {
    var told = Told()
    told.recipient.isActor = true
    #expect(told.explanation.recipients == [])
    #expect(told.explanation.summary == "Nobody was told, because nobody else takes part (no_recipients).")
    var records = told.records
    records.userID = Told.user
    #expect(
      EventExplanation(records).recipients.map(\.summary)
        == ["No push, because the message is the user's own: nobody is told of what they did."])
    records.event.recordedCount = 1
    #expect(
      EventExplanation(records).summary
        == "Nothing is recorded for the one who was asked about. Not told about here: 1 recipient more.")
  }

  @Test("what is still in the inbox asks whether the service runs")
  func inbox() {
    var told = Told(now: 30_000_000)
    told.event.inbox = InboxFacts(
      enqueuedAt: Told.committedAt, availableAt: Told.committedAt, attempts: 0, rescues: 0, isClaimed: false)
    told.event.serviceSeenAt = told.event.now - 3_600_000_000
    #expect(
      told.sentence
        == "No push yet: the message has been in the inbox for 30 s, and nobody has claimed it; no service has"
        + " been seen for 1 h: is it running?")
    told.event.serviceSeenAt = nil
    #expect(told.sentence.contains("no service was ever seen on this database: is it running?"))
    told.event.serviceSeenAt = told.event.now - 2_000_000
    #expect(told.sentence.contains("a service was seen 2 s ago, and should take it up at once"))
  }

  @Test("what could not be looked at says the error")
  func unlooked() {
    var told = Told(now: 30_000_000)
    told.event.inbox = InboxFacts(
      enqueuedAt: Told.committedAt, availableAt: Told.committedAt, attempts: 2, rescues: 1, isClaimed: true,
      error: "permission denied")
    #expect(told.sentence.hasSuffix("could not be looked at, 30 s after its commit: permission denied."))
    #expect(told.explanation.steps.contains { $0.details.contains(.init(name: "lost claims", value: "1")) })
  }

  @Test("who came later is told so")
  func later() {
    var told = Told()
    told.event.recordedCount = 3
    #expect(
      told.sentence
        == "No push: nothing is recorded for the user, who takes part now and did not when the message was decided.")
  }

  @Test("who takes no part is told so")
  func stranger() {
    var told = Told()
    told.recipient.isParticipant = false
    #expect(told.sentence.hasPrefix("No push, because the user does not take part in what it is about"))
  }

  @Test(
    "a message that nobody noticed says why",
    arguments: [
      ("missing", "the trigger on messages is missing"), ("D", "the trigger on messages is disabled"),
      ("O", "the message never came to the inbox, concerned nobody, or was already too old when it was inserted."),
    ])
  func unnoticed(trigger: String, clause: String) {
    var told = Told()
    told.event.enqueuedAt = nil
    told.event.trigger = trigger
    #expect(told.sentence.contains(clause))
    #expect(told.explanation.summary.contains(clause))
  }

  @Test("both sides of the trigger's beginning and of the ledger's")
  func age() {
    var told = Told()
    told.event.enqueuedAt = nil
    told.event.watchedSince = Told.committedAt + 1
    #expect(told.sentence.contains("is older than Tacet's trigger"))
    told.event.watchedSince = Told.committedAt
    told.event.ledgerSince = Told.committedAt + 1
    #expect(told.sentence.contains("is older than what the ledger still has"))
    told.event.ledgerSince = Told.committedAt
    #expect(told.sentence.contains("never came to the inbox"))
  }

  @Test("a trigger that failed is named with its condition and no text")
  func triggerFailure() {
    var told = Told()
    told.event.enqueuedAt = nil
    told.event.triggerFailures = [
      TriggerFailureFacts(failedAt: Told.committedAt, sqlState: "55P03", concernsEvent: true)
    ]
    #expect(told.sentence.contains("could not write the message to the inbox (SQLSTATE 55P03)"))
    #expect(told.explanation.steps.contains { $0.what == .triggerFailed })
  }

  @Test("an id that nobody knows says what that may come from")
  func unknown() {
    let event = EventFacts(now: Told.committedAt, subjectID: Told.subject, kind: "message")
    var records = EventRecords(event: event)
    #expect(!EventExplanation(records).isKnown)
    records.event.trigger = "missing"
    records.event.ledgerSince = Told.committedAt
    #expect(
      EventExplanation(records).summary == """
        Nothing is known of a message with this id: there is no such row, and no record. The trigger on messages is missing, \
        so no message is noticed; tacet migrate makes it. The ledger begins on 2026-09-21T14:13:20.000Z; what is older was \
        pruned.
        """)
  }

  @Test("of a flooded event it is said how many are not told about")
  func more() {
    var told = Told()
    told.claim(decision: .sent, attempts: [Told.attempt()])
    told.event.recordedCount = 2_500
    var records = told.records
    records.hasMore = true
    #expect(EventExplanation(records).summary == "1 recipient: 1 sent. Not told about here: 2499 recipients more.")
    records.event.recordedCount = EventFacts.countMax
    #expect(EventExplanation(records).summary.hasSuffix("Not told about here: at least 9999 recipients more."))
    records.event.recordedCount = 1
    #expect(EventExplanation(records).summary.hasSuffix("There are more recipients; ask about one of them."))
  }
}
