import Testing

@testable import PushRules

@Suite("The suppression policy")
struct SuppressionPolicyTests {
  @Test("the window is a minute and a message lives an hour unless somebody says otherwise")
  func defaults() {
    #expect(SuppressionPolicy().window == .seconds(60))
    #expect(SuppressionPolicy().timeToLive == .seconds(3600))
  }
}

private let policy = SuppressionPolicy(window: .seconds(60), timeToLive: .seconds(3600))
private let microsecond = Duration.microseconds(1)

@Suite("The suppression rule")
struct SuppressionDecisionTests {
  @Test("a recipient of whom nothing is known gets the push")
  func unknownPresence() {
    #expect(policy.decision(for: RecipientSituation()) == .send)
  }

  @Test(
    "a view younger than the window holds until the window ends, one exactly as old sends",
    arguments: [
      (Duration.seconds(0), PushDecision.hold(for: .seconds(60), reason: .userViewing)),
      (.seconds(20), .hold(for: .seconds(40), reason: .userViewing)),
      (.microseconds(59_999_999), .hold(for: .microseconds(1), reason: .userViewing)),
      (.microseconds(60_000_000), .send),
      (.microseconds(60_000_001), .send),
      (.seconds(86_400), .send),
    ])
  func viewEdges(age: Duration, expected: PushDecision) {
    #expect(policy.decision(for: RecipientSituation(lastSeenAge: age)) == expected)
    #expect(policy.decision(for: RecipientSituation(newestOtherReadAge: age)) == expected)
  }

  @Test("the window is the policy's", arguments: [30, 45])
  func otherWindows(seconds: Int) {
    let policy = SuppressionPolicy(window: .seconds(seconds))
    let inside = RecipientSituation(lastSeenAge: .seconds(seconds) - microsecond)
    #expect(policy.decision(for: inside) == .hold(for: microsecond, reason: .userViewing))
    #expect(policy.decision(for: RecipientSituation(lastSeenAge: .seconds(seconds))) == .send)
  }

  @Test("a window of zero never holds")
  func zeroWindow() {
    #expect(SuppressionPolicy(window: .zero).decision(for: RecipientSituation(lastSeenAge: .zero)) == .send)
  }

  @Test(
    "a sign from the future proves nothing, one of this moment does",
    arguments: [
      (Duration.zero, PushDecision.hold(for: .seconds(60), reason: .userViewing)), (.zero - microsecond, .send),
      (.seconds(-3600), .send), (.seconds(-86_400 * 365), .send),
    ])
  func futureSign(age: Duration, expected: PushDecision) {
    for messageAge in [Duration.zero, .seconds(10), .seconds(-5)] {
      #expect(policy.decision(for: RecipientSituation(messageAge: messageAge, lastSeenAge: age)) == expected)
      #expect(policy.decision(for: RecipientSituation(messageAge: messageAge, newestOtherReadAge: age)) == expected)
    }
  }

  @Test("a look from the future leaves the word to a read of the past, and skips nothing")
  func futureLook() {
    let situation = RecipientSituation(
      lastSeenAge: .zero - microsecond, sawAfterMessage: true, newestOtherReadAge: .seconds(10))
    #expect(policy.decision(for: situation) == .hold(for: .seconds(50), reason: .userViewing))
  }

  @Test("a view since the arrival skips, also when it is old or the client has left since")
  func sawItArrive() {
    for age in [Duration.zero, .seconds(59), .seconds(61)] {
      for hasLeft in [false, true] {
        let situation = RecipientSituation(
          messageAge: .seconds(100), lastSeenAge: age, sawAfterMessage: true, hasLeft: hasLeft)
        #expect(policy.decision(for: situation) == .skip(reason: .userViewing))
      }
    }
  }

  @Test("a client that left gets the push at once, whatever it saw or read before")
  func left() {
    #expect(policy.decision(for: RecipientSituation(lastSeenAge: .seconds(1), hasLeft: true)) == .send)
    #expect(policy.decision(for: RecipientSituation(hasLeft: true, newestOtherReadAge: .seconds(1))) == .send)
  }

  @Test("reading the newest other message counts only where the client reports no views")
  func readEvidence() {
    let reporting = RecipientSituation(lastSeenAge: .seconds(60), newestOtherReadAge: .zero)
    #expect(policy.decision(for: reporting) == .send)
    let younger = RecipientSituation(lastSeenAge: .seconds(50), newestOtherReadAge: .seconds(1))
    #expect(policy.decision(for: younger) == .hold(for: .seconds(10), reason: .userViewing))
  }

  @Test(
    "a message expires after its time to live, the end included",
    arguments: [
      (Duration.seconds(3600) - microsecond, Duration.zero, PushDecision.send),
      (.seconds(3600), .zero, .send),
      (.seconds(3600) + microsecond, .zero, .skip(reason: .expired)),
      (.seconds(8 * 3600), .seconds(7 * 3600), .send),
      (.seconds(8 * 3600), .seconds(7 * 3600) - microsecond, .skip(reason: .expired)),
    ])
  func expiry(messageAge: Duration, heldFor: Duration, expected: PushDecision) {
    #expect(policy.decision(for: RecipientSituation(messageAge: messageAge, heldFor: heldFor)) == expected)
  }

  @Test(
    "a push with its own life ends with it, the end included, and time on hold counts",
    arguments: [
      (Duration.seconds(60), Duration.zero, PushDecision.send),
      (.seconds(60) + microsecond, .zero, .skip(reason: .expired)),
      (.seconds(60) + microsecond, .seconds(30), .skip(reason: .expired)),
      (.zero - .seconds(60), .zero, .send),
    ])
  func life(messageAge: Duration, heldFor: Duration, expected: PushDecision) {
    let situation = RecipientSituation(messageAge: messageAge, heldFor: heldFor, life: .seconds(60))
    #expect(policy.decision(for: situation) == expected)
  }

  @Test(
    "quiet hours hold or drop as the recipient wishes, and are over when nothing remains",
    arguments: [
      (microsecond, QuietHoursPolicy.hold, PushDecision.hold(for: .microseconds(1), reason: .quietHours)),
      (.seconds(28_800), .hold, .hold(for: .seconds(28_800), reason: .quietHours)),
      (microsecond, .drop, .skip(reason: .quietHours)),
      (.zero, .hold, .send),
      (.zero, .drop, .send),
      (.zero - microsecond, .drop, .send),
    ])
  func quietHours(remaining: Duration, wish: QuietHoursPolicy, expected: PushDecision) {
    let situation = RecipientSituation(quietHoursRemaining: remaining, quietHoursPolicy: wish)
    #expect(policy.decision(for: situation) == expected)
  }

  @Test(
    "what the recipient does not want at any time is skipped; with a mention only what was wanted with one is sent",
    arguments: [
      (true, false, false, false, PushDecision.skip(reason: .optedOut)),
      (true, true, true, true, .skip(reason: .optedOut)),
      (false, true, false, false, .skip(reason: .muted)),
      (false, true, true, true, .skip(reason: .muted)),
      (false, false, true, false, .skip(reason: .notMentioned)),
      (false, false, true, true, .send),
      (false, false, false, false, .send),
      (false, false, false, true, .send),
    ])
  func wishes(isOptedOut: Bool, isMuted: Bool, mentionsOnly: Bool, isMentioned: Bool, expected: PushDecision) {
    let situation = RecipientSituation(
      isOptedOut: isOptedOut, isMuted: isMuted, wantsMentionsOnly: mentionsOnly, isMentioned: isMentioned)
    #expect(policy.decision(for: situation) == expected)
  }

  @Test("a mention does not break quiet hours", arguments: QuietHoursPolicy.allCases)
  func mentionInQuietHours(wish: QuietHoursPolicy) {
    let situation = RecipientSituation(
      wantsMentionsOnly: true, isMentioned: true, quietHoursRemaining: microsecond, quietHoursPolicy: wish)
    let hold = PushDecision.hold(for: microsecond, reason: .quietHours)
    #expect(policy.decision(for: situation) == (wish == .hold ? hold : .skip(reason: .quietHours)))
  }

  @Test("without a device nothing is sent")
  func noDevices() {
    #expect(policy.decision(for: RecipientSituation(deviceCount: 0)) == .skip(reason: .noTokens))
  }
}

@Suite("The precedence of the suppression rule")
struct SuppressionPrecedenceTests {
  /// Everything is true at once; each step takes the strongest reason away and shows the next.
  @Test("reasons give way to one another in their documented order")
  func order() {
    var situation = RecipientSituation(
      messageAge: .seconds(9999), isDeleted: true, isCancelled: true, isCapped: true, hasRead: true,
      lastSeenAge: .seconds(10), sawAfterMessage: true,
      newestOtherReadAge: .seconds(30), isOptedOut: true, isMuted: true, wantsMentionsOnly: true,
      quietHoursRemaining: .seconds(500), deviceCount: 0)
    expect(.skip(reason: .deleted), then: { $0.isDeleted = false }, in: &situation)
    expect(.skip(reason: .cancelled), then: { $0.isCancelled = false }, in: &situation)
    expect(.skip(reason: .alreadyRead), then: { $0.hasRead = false }, in: &situation)
    expect(.skip(reason: .expired), then: { $0.messageAge = .seconds(5) }, in: &situation)
    expect(.skip(reason: .userViewing), then: { $0.sawAfterMessage = false }, in: &situation)
    expect(.skip(reason: .optedOut), then: { $0.isOptedOut = false }, in: &situation)
    expect(.skip(reason: .muted), then: { $0.isMuted = false }, in: &situation)
    expect(.skip(reason: .notMentioned), then: { $0.isMentioned = true }, in: &situation)
    expect(.skip(reason: .pushedToday), then: { $0.isCapped = false }, in: &situation)
    expect(.skip(reason: .noTokens), then: { $0.deviceCount = 2 }, in: &situation)
    expect(.hold(for: .seconds(500), reason: .quietHours), then: { $0.quietHoursRemaining = nil }, in: &situation)
    expect(.hold(for: .seconds(50), reason: .userViewing), then: { $0.lastSeenAge = nil }, in: &situation)
    expect(.hold(for: .seconds(30), reason: .userViewing), then: { $0.newestOtherReadAge = nil }, in: &situation)
    expect(.send, then: { _ in }, in: &situation)
  }

  private func expect(
    _ expected: PushDecision, then change: (inout RecipientSituation) -> Void, in situation: inout RecipientSituation,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(policy.decision(for: situation) == expected, sourceLocation: sourceLocation)
    change(&situation)
  }
}

@Suite("Decision reasons")
struct DecisionReasonTests {
  @Test("the raw values are those of the interface")
  func rawValues() {
    #expect(
      Set(DecisionReason.allCases.map(\.rawValue)) == [
        "user_viewing", "already_read", "no_tokens", "no_recipients", "muted", "quiet_hours", "deleted", "expired",
        "opted_out", "not_mentioned", "cancelled", "pushed_today", "folding", "folded",
      ])
  }
}

@Suite("Presence times")
struct PresenceTimesTests {
  /// The message was committed at 100 and is claimed at 200.
  private func situation(_ times: PresenceTimes) -> RecipientSituation {
    var situation = RecipientSituation.nothingKnown
    situation.set(times, enqueuedAt: 100, moment: 200)
    return situation
  }

  @Test("nothing reported is nothing known")
  func nothing() { #expect(situation(PresenceTimes()) == .nothingKnown) }

  @Test(
    "ages count to the claim, and are negative for times of another clock",
    arguments: [(nil, nil), (200, 0), (199, 1), (201, -1), (-50, 250)] as [(Int64?, Int64?)])
  func ages(time: Int64?, age: Int64?) {
    let found = situation(PresenceTimes(lastSeen: time, readOther: time))
    #expect(found.lastSeenAge == age.map { .microseconds($0) })
    #expect(found.newestOtherReadAge == age.map { .microseconds($0) })
  }

  @Test(
    "a look counts if it is later than the message, and not later than the claim",
    arguments: [
      (100, nil, false), (101, nil, true), (200, nil, true), (201, nil, false), (nil, nil, false),
      // The message's own date moves its arrival, unless it lies before the commit or in the future.
      (120, 119, true), (120, 120, false), (101, 99, true), (200, 200, false), (101, 201, true),
    ] as [(Int64?, Int64?, Bool)])
  func saw(lastSeen: Int64?, created: Int64?, saw: Bool) {
    #expect(situation(PresenceTimes(lastSeen: lastSeen, created: created)).sawAfterMessage == saw)
  }

  @Test(
    "leaving counts from the last sign of presence until the claim",
    arguments: [
      (150, 150, nil, true), (149, 150, nil, false), (200, 150, nil, true), (201, 150, nil, false),
      (150, nil, nil, false),
      // A read stands in for looks that are unknown, or written by another clock.
      (150, nil, 150, true), (150, nil, 151, false), (150, 201, 150, true), (150, 201, nil, false),
      (150, nil, 201, false), (150, 160, 140, false), (nil, 150, 150, false),
    ] as [(Int64?, Int64?, Int64?, Bool)])
  func left(left: Int64?, lastSeen: Int64?, readOther: Int64?, hasLeft: Bool) {
    #expect(situation(PresenceTimes(lastSeen: lastSeen, left: left, readOther: readOther)).hasLeft == hasLeft)
  }

  @Test("no time that PostgreSQL has is too far away")
  func extremes() {
    for time in [-210_866_803_200_000_000, Int64.max] {
      let found = situation(PresenceTimes(lastSeen: time, left: time, readOther: time, created: time))
      #expect(found.lastSeenAge == .microseconds(200) - .microseconds(time))
    }
  }
}
