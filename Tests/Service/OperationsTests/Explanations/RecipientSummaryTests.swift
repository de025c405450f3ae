import PushRules
import Testing

@testable import Operations
@testable import PushStore

@Suite("The sentence about a recipient")
struct RecipientSummaryTests {
  typealias Known = HistoryEntry.Situation

  static let skips: [(reason: String, clause: String, know: @Sendable (inout Known) -> Void)] = [
    ("already_read", "the user had read the message", { $0.hasRead = true }),
    (
      "user_viewing", "the user has looked at the conversation since: the app reported it 3 s after the message",
      {
        ($0.messageAge, $0.lastSeenAge, $0.sawAfterMessage) = (.microseconds(5_000_000), .microseconds(2_000_000), true)
      }
    ),
    ("no_tokens", "the user had no device to send it to", { $0.deviceCount = 0 }),
    ("opted_out", "the user wants no pushes of the kind message", { $0.isOptedOut = true }),
    ("muted", "the user has muted the conversation or its sender", { $0.isMuted = true }),
    (
      "not_mentioned", "the user wants to hear of mentions only here, and the message did not mention them",
      { $0.wantsMentionsOnly = true }
    ),
    (
      "quiet_hours", "it was within the user's quiet hours, and the user wants such pushes dropped",
      { ($0.quietHoursRemaining, $0.quietHoursPolicy) = (.microseconds(1), .drop) }
    ),
    ("deleted", "the message, or what it is about, had been deleted", { $0.isDeleted = true }),
    (
      "expired", "the message was 2 h old by then, the time it was held not counted, and is worth a push for 1 h",
      { ($0.messageAge, $0.heldFor) = (.microseconds(10_800_000_000), .microseconds(3_600_000_000)) }
    ),
    ("not_participant", "the user took no part in the conversation any more", { $0.isParticipant = false }),
  ]

  private static func attempt(_ device: String, _ verdict: String, _ reason: String? = nil) -> HistoryEntry.Attempt {
    Told.attempt(verdict, status: reason == nil ? 200 : 400, reason: reason, device: device)
  }

  @Test("one device that was asked in both environments is one device")
  func bothEnvironments() {
    var told = Told()
    told.claim(
      decision: .failed, reason: "BadDeviceToken",
      attempts: [
        Self.attempt("aaaaaaaa", "elsewhere", "BadDeviceToken"), Self.attempt("aaaaaaaa", "dropped", "BadDeviceToken"),
      ])
    #expect(told.sentence.hasPrefix("No push: it was to go to device aaaaaaaa, but "))
    #expect(told.sentence.hasSuffix("The token was dropped."))
  }

  @Test("a push that a shadow withheld is told with its devices, and those that it could not have reached")
  func shadow() {
    var told = Told()
    told.claim(
      decision: .skipped, reason: "shadow",
      attempts: [
        Self.attempt("aaaaaaaa", "shadow"), Self.attempt("bbbbbbbb", "shadow"),
        Self.attempt("cccccccc", "refused", "app_not_configured"),
      ])
    #expect(
      told.sentence.hasPrefix(
        "Shadow: would have been sent to 2 devices. SHADOW is set, so nothing was sent. Not for cccccccc: "))
    let steps = told.explanation.recipients[0].steps.map(\.text)
    #expect(steps.contains("decided: send, because no rule objects"))
    #expect(steps.contains("shadow: the push for device aaaaaaaa was built, and not sent to APNs"))
  }

  @Test("a device that is still to be reached is told, by its last attempt, and one that was reached later is not")
  func stillToGo() {
    var told = Told()
    let first = [
      Self.attempt("aaaaaaaa", "accepted"), Self.attempt("bbbbbbbb", "postponed", "InternalServerError"),
      Self.attempt("cccccccc", "refused", "PayloadTooLarge"),
    ]
    told.claim(decision: .sent, due: 1_000_000, remaining: "retryable", attempts: first)
    #expect(told.sentence.contains("Not for cccccccc: "))
    #expect(told.sentence.contains("Still to go to bbbbbbbb: "))
    told.claim(2, at: 2_000_000, wokenBy: "due", decision: .sent, attempts: [Self.attempt("bbbbbbbb", "accepted")])
    #expect(!told.sentence.contains("bbbbbbbb"))
    #expect(told.sentence.contains("Not for cccccccc: "))
  }

  @Test("a push that was not sent says why, with its numbers", arguments: skips.indices)
  func skipped(_ index: Int) {
    let (reason, clause, know) = Self.skips[index]
    var told = Told()
    told.claim(decision: .skipped, reason: reason, know)
    #expect(told.sentence == "No push, because \(clause).")
    #expect(SuppressionRule.first(for: told.history[0].situation)?.reason == reason)
  }

  @Test(
    "a hold says for whose sake, and when it is looked at again",
    arguments: [
      (
        "user_viewing", Int64(12_002_000), nil,
        "the user was looking at the conversation: the app reported it 12 s before the message, and the window is 1 min"
      ),
      (
        "user_viewing", -5_000_000, nil,
        "the user was looking at the conversation: the app reported it by a clock that is 5 s ahead, and the window is 1 min"
      ),
      (
        "user_viewing", nil, 7_002_000,
        "the user was probably looking at the conversation: of its other messages the newest was read, and touched 7 s before"
          + " the message, and the window is 1 min"
      ),
      ("quiet_hours", nil, nil, "it was within the user's quiet hours, for another 3 h 20 min"),
    ] as [(String, Int64?, Int64?, String)])
  func held(reason: String, seen: Int64?, read: Int64?, clause: String) {
    var told = Told(now: 10_000_000)
    told.claim(decision: .held, reason: reason, due: 48_000_000, remaining: "held") {
      $0.lastSeenAge = seen.map { .microseconds($0) }
      $0.newestOtherReadAge = read.map { .microseconds($0) }
      if reason == "quiet_hours" { $0.quietHoursRemaining = .microseconds(12_000_000_000) }
    }
    #expect(
      told.sentence
        == "No push yet, because \(clause). It is looked at again in 38 s, or as soon as something is learnt.")
  }

  @Test(
    "a push that was sent after a hold says what ended it",
    arguments: [
      ("left", "the user left"), ("preferences", "the user's preferences changed"),
      ("review", "a second look found what had changed while the hold was being recorded"),
      (nil, "the time of the hold was over"),
    ] as [(String?, String)])
  func sentAfterHold(cause: String?, clause: String) {
    var told = Told()
    told.claim(decision: .held, reason: "user_viewing", due: 48_000_000, remaining: "held") {
      $0.lastSeenAge = .microseconds(12_002_000)
    }
    told.claim(2, at: 20_000_000, wokenBy: "due", releasedBy: cause, decision: .sent, attempts: [Told.attempt()])
    #expect(
      told.sentence.hasPrefix("A push was sent: it was accepted for 1 device, 20 s after the message. Until then it"))
    #expect(told.sentence.hasSuffix("and the window is 1 min; then \(clause)."))
  }

  @Test("a push that a dead process may have sent says that the phone shows it once")
  func resent() {
    var told = Told()
    told.claim(2, at: 30_000_000, decision: .sent, attempts: [Told.attempt()])
    #expect(
      told.sentence.hasSuffix(
        "Claim 1 left no record; if it had sent anything, it was sent again under the same apns-id, which the phone shows"
          + " once."))
    #expect(
      told.explanation.recipients[0].steps.contains { $0.what == .lostClaim && $0.text.hasPrefix("claim 1 left") })
    // The claims of a large event are each of other recipients.
    told.event.recordedClaims = [1, 2]
    #expect(!told.sentence.contains("left no record"))
    #expect(!told.explanation.recipients[0].steps.contains { $0.what == .lostClaim })
  }

  @Test("a dead token is named by its beginning, with APNs' word for it")
  func dropped() {
    var told = Told()
    told.claim(
      decision: .failed, reason: "Unregistered",
      attempts: [Told.attempt("dropped", status: 410, reason: "Unregistered")])
    #expect(
      told.sentence
        == "No push: it was to go to device 0a1b2c3d, but the app is no longer on the device, or was registered"
        + " anew (Unregistered). The token was dropped.")
  }

  @Test("a route that takes nothing is named")
  func waiting() {
    var told = Told()
    told.claim(
      decision: .held, reason: "apns_unreachable", due: 0, remaining: "waiting",
      attempts: [Told.attempt("waiting", status: nil, reason: "apns_unreachable", isSent: false)])
    #expect(
      told.sentence == "No push yet, because APNs could not be reached, and has certainly not seen the push"
        + " (apns_unreachable). It goes as soon as com.example.app/production takes pushes again.")
  }

  @Test("what was set aside says why, and what to do")
  func parked() {
    var told = Told()
    told.recipient.parked = ParkedFacts(parkedAt: Told.committedAt, attempts: 7, reason: "claimed too often")
    #expect(
      told.sentence
        == "No push: it was set aside (parked) after 7 claims, with this reason: claimed too often. Mend that,"
        + " then call tacet.replay.")
  }

  @Test("who has opened it is said")
  func opened() {
    var told = Told()
    told.claim(decision: .sent, attempts: [Told.attempt()])
    told.recipient.ledger?.opened = true
    told.recipient.ledger?.openedAt = Told.committedAt + 60_000_000
    #expect(told.sentence.hasSuffix("The user has opened it."))
    #expect(
      told.explanation.recipients[0].steps.contains { $0.what == .opened && $0.at == Told.committedAt + 60_000_000 })
  }
}
