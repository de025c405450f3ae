import Foundation
import PushRules
import Testing

@testable import Operations
@testable import PushStore

@Suite("An explanation as text")
struct EventExplanationTextTests {
  @Test("a push that was sent: who claimed it, what was asked, what APNs answered")
  func sent() {
    var told = Told()
    told.claim(decision: .sent, attempts: [Told.attempt()]) { $0.lastSeenAge = .microseconds(600_000_000) }
    told.recipient.devices = [DeviceFacts(device: "0a1b2c3d", app: "com.example.app", environment: "production")]
    #expect(
      told.explanation.text == """
        message 11111111-1111-4111-8111-111111111111, committed 2026-09-21T14:13:20.000Z
        1 recipient: 1 sent.
                0.0 ms  committed
                          host           created_at says 2026-09-21T14:13:20.000Z

        user 22222222-2222-4222-8222-222222222222
          A push was sent: it was accepted for 1 device, 5 ms after the message.
                1.2 ms  the service was woken by PostgreSQL's notification
                2.0 ms  claimed by push-1, process 4711 (instance 7f3a), claim 1
                2.1 ms  decided: send, because no rule objects
                          takes part     yes
                          deleted        no
                          read           no
                          age            2 ms; the limit is 1 h
                          seen since     no: the last look was reported 9 min 59 s before the commit
                          opted out      no
                          muted          no
                          mentions only  no
                          devices        1
                          quiet hours    no
                          presence       last look 10 min before the claim; the window is 1 min
                5.0 ms  APNs accepted the push for device 0a1b2c3d
                          route          com.example.app/production
                          status         200
                          apns-id        44444444-4444-8444-8444-444444444444
           1:00:00.000  now: nothing remains to be done
                          takes part     yes
                          devices        0a1b2c3d (com.example.app/production)

        """)
  }

  @Test("a hold that reading has ended, told from the commit to the last word")
  func released() {
    var told = Told(now: 20_000_000)
    told.claim(
      decision: .held, reason: "user_viewing", due: 48_000_000, remaining: "held"
    ) { $0.lastSeenAge = .microseconds(12_002_000) }
    told.claim(2, at: 9_000_000, wokenBy: "due", releasedBy: "read", decision: .skipped, reason: "already_read") {
      $0.hasRead = true
      $0.heldFor = .microseconds(8_998_000)
    }
    #expect(
      told.explanation.text == """
        message 11111111-1111-4111-8111-111111111111, committed 2026-09-21T14:13:20.000Z
        1 recipient: 1 skipped.
                0.0 ms  committed
                          host           created_at says 2026-09-21T14:13:20.000Z

        user 22222222-2222-4222-8222-222222222222
          No push, because the user had read the message. Until then it was held, because the user was
          looking at the conversation: the app reported it 12 s before the message, and the window is 1 min.
                1.2 ms  the service was woken by PostgreSQL's notification
                2.0 ms  claimed by push-1, process 4711 (instance 7f3a), claim 1
                2.1 ms  decided: held for 48 s (user_viewing)
                          takes part     yes
                          deleted        no
                          read           no
                          age            2 ms; the limit is 1 h
                          seen since     no: the last look was reported 12 s before the commit
                          opted out      no
                          muted          no
                          mentions only  no
                          devices        1
                          quiet hours    no
                          presence       last look 12 s before the claim; the window is 1 min
             8999.2 ms  released: the user had read the message
             8999.2 ms  the service was woken because work had become due
             9000.0 ms  claimed by push-1, process 4711 (instance 7f3a), claim 2
             9000.1 ms  decided: no push (already_read)
                          takes part     yes
                          deleted        no
                          read           yes
            20000.0 ms  now: nothing remains to be done
                          takes part     yes
                          devices        none

        """)
  }

  @Test("no line is longer than 100 columns")
  func width() {
    var told = Told()
    told.claim(
      decision: .failed, reason: "InvalidProviderToken",
      attempts: (0..<3).map { Told.attempt("refused", status: 403, reason: "InvalidProviderToken", device: "\($0)") })
    told.recipient.parked = ParkedFacts(
      parkedAt: Told.committedAt, attempts: 7, reason: String(repeating: "a long reason ", count: 20))
    let lines = told.explanation.text.split(separator: "\n")
    #expect(lines.count > 20)
    #expect(lines.filter { $0.count > 100 } == [])
  }

  @Test("without a known commit times are those of the day")
  func uncommitted() {
    var told = Told()
    told.event.enqueuedAt = nil
    told.event.source = nil
    #expect(told.explanation.text.contains(" 15:13:20.000Z  now: nothing remains to be done"))
  }
}

@Suite("An explanation as JSON")
struct EventExplanationJSONTests {
  @Test("names and numbers stay as programs know them")
  func document() throws {
    var told = Told()
    told.claim(decision: .skipped, reason: "muted") { $0.isMuted = true }
    let text = String(decoding: EventExplanation.json([told.explanation]), as: UTF8.self)
    #expect(
      text.hasPrefix(
        #"{"events":[{"committed_at":"2026-09-21T14:13:20.000Z","has_more_recipients":false,"kind":"message","#))
    #expect(
      text.contains(
        #""decision":"skipped","push_log_id":"33333333-3333-8333-8333-333333333333","reason":"muted","steps":["#))
    #expect(
      text.contains(
        #"{"name":"muted","value":"yes"}],"milliseconds":2.1,"text":"decided: no push (muted)","what":"decided"}"#))
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [[String: Any]]])
    #expect(document["events"]?.count == 1)
  }

  @Test("what is not known is left out")
  func absent() {
    var told = Told()
    told.event.enqueuedAt = nil
    told.event.source = nil
    let text = String(decoding: EventExplanation.json([told.explanation]), as: UTF8.self)
    #expect(!text.contains("null") && !text.contains("committed_at") && !text.contains("milliseconds"))
    #expect(text.contains(#""known":false"#))
  }
}

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

  @Test("what is still in the inbox asks whether the service runs, and says the error of a look")
  func inbox() {
    var told = Told(now: 30_000_000)
    told.event.inbox = InboxFacts(
      enqueuedAt: Told.committedAt, availableAt: Told.committedAt, attempts: 0, rescues: 0, isClaimed: false)
    told.event.serviceSeenAt = told.event.now - 3_600_000_000
    #expect(
      told.sentence
        == "No push yet: the message has been in the inbox for 30 s, and is not decided; no service has"
        + " been seen for 1 h: is it running?")
    told.event.serviceSeenAt = nil
    #expect(told.sentence.contains("no service was ever seen on this database: is it running?"))
    told.event.serviceSeenAt = told.event.now - 2_000_000
    #expect(told.sentence.contains("a service was seen 2 s ago, and should take it up at once"))
    told.event.inbox?.error = "permission denied"
    told.event.inbox?.rescues = 1
    #expect(told.sentence.hasSuffix("could not be looked at, 30 s after its commit: permission denied."))
    #expect(told.explanation.steps.contains { $0.details.contains(.init(name: "lost claims", value: "1")) })
  }

  @Test("of what waits, also of a retry that is due, the owner is named, and that it has lost its lease")
  func owner() {
    var told = Told(now: 30_000_000)
    told.event.inbox = InboxFacts(
      enqueuedAt: Told.committedAt, availableAt: Told.committedAt, attempts: 0, rescues: 0, isClaimed: false)
    told.event.owner = OwnerFacts(id: "7f3a", host: "push-1", pid: 4711, leaseUntil: told.event.now + 1)
    let owner = "push-1, process 4711 (instance 7f3a)"
    #expect(
      told.sentence.hasSuffix("and is not decided; it belongs to \(owner), which has it in hand or takes it next."))
    #expect(told.explanation.steps.contains { $0.text.hasSuffix("; owned by \(owner)") })
    told.event.owner?.leaseUntil = told.event.now - 3_000_000
    #expect(told.sentence.contains("; its owner, \(owner), lost its lease 3 s ago; a service was seen 2 s ago"))
    told.event.owner = OwnerFacts(id: "7f3a", leaseUntil: told.event.now + 1)
    #expect(told.sentence.contains("; it belongs to instance 7f3a, which"))
    told.event.inbox = nil
    told.claim(decision: .held, reason: "user_viewing", due: 1_000_000, remaining: "held")
    #expect(
      told.explanation.recipients[0].steps.last?.text.hasSuffix(
        "; it belongs to instance 7f3a, which has it in hand or takes it next.") == true)
  }

  @Test("a message that was sent after a change of its owner may have been sent before, and says so")
  func takenOver() {
    var told = Told()
    told.claim(decision: .sent, attempts: [Told.attempt()])
    #expect(!told.sentence.contains("owner"))
    told.history[0].isTakenOver = true
    told.recipient.ledger?.history = told.history
    let takeOver =
      "after a change of its owner; if the one before had sent it, it was sent again under the same apns-id"
    #expect(told.sentence.contains("It was claimed \(takeOver)"))
    #expect(
      told.explanation.recipients[0].steps.contains {
        $0.text.hasPrefix("claimed by push-1, process 4711 (instance 7f3a), claim 1, \(takeOver)")
      })
  }

  @Test("who came later is told so, and who takes no part")
  func strangers() {
    var told = Told()
    told.event.recordedCount = 3
    #expect(
      told.sentence
        == "No push: nothing is recorded for the user, who takes part now and did not when the message was decided.")
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
