import Testing

@testable import Operations
@testable import PushStore

@Suite("An explanation as text")
struct EventExplanationTextTests {
  @Test("a push that was sent: who claimed it, what was asked, what APNs answered")
  func sent() {
    var told = Told()
    told.claim(decision: .sent, attempts: [Told.attempt()]) { $0.lastSeenAge = 600_000_000 }
    told.recipient.devices = [DeviceFacts(device: "0a1b2c3d", app: "com.example.app", environment: "production")]
    #expect(
      told.explanation.text == """
        message 11111111-1111-4111-8111-111111111111, committed 2026-09-21T14:13:20.000Z
        1 recipient: 1 sent.
                0.0 ms  committed
                          host           created_at says 2026-09-21T14:13:20.000Z

        user 22222222-2222-4222-8222-222222222222
          A push was sent: APNs accepted it for 1 device, 5 ms after the message.
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
    ) { $0.lastSeenAge = 12_002_000 }
    told.claim(2, at: 9_000_000, wokenBy: "due", releasedBy: "read", decision: .skipped, reason: "already_read") {
      $0.hasRead = true
      $0.heldFor = 8_998_000
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
