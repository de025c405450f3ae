import Foundation
import PushRules
import Testing

@testable import Operations
@testable import PushStore

@Suite("Claims without a record")
struct RecordedClaimsTests {
  private static func told(_ claims: [Int]) -> Told {
    var told = Told()
    for claim in claims {
      told.claim(claim, at: Int64(claim) * 1_000_000, decision: .sent, attempts: [Told.attempt()])
    }
    return told
  }

  private static func lost(_ told: Told) -> [String] {
    told.explanation.recipients[0].steps.filter { $0.what == .lostClaim }.map(\.text)
  }

  @Test("what a slow claim recorded behind its follower is no gap")
  func late() {
    let told = Self.told([1, 3, 2])
    #expect(Self.lost(told) == [] && !told.sentence.contains("left no record"))
  }

  @Test("the claims of others count before the first record of a push, and not behind it")
  func others() {
    var told = Self.told([2, 4])
    told.event.recordedClaims = [1, 2, 3, 4]
    #expect(told.sentence.contains("Claim 3 left no record") && !told.sentence.contains("Claim 1"))
    #expect(Self.lost(told).map { $0.prefix(9) } == ["claim 3 l"])
  }

  @Test("the middle of a long history is left out and not lost", arguments: [(39, false), (40, true)])
  func cut(count: Int, isCut: Bool) {
    let told = Self.told(Array(1...20) + Array(24..<(24 + count - 20)))
    #expect(told.sentence.contains("left no record") != isCut)
    #expect(Self.lost(told).contains("3 claims in between left out") == isCut)
  }

  @Test(
    "a row with a number that no claim has is told as quickly, and says what it leaves out", .timeLimit(.minutes(1)))
  func enormous() {
    let told = Self.told([1, Int(Int32.max)])
    #expect(Self.lost(told).count == 101)
    #expect(Self.lost(told).contains("\(Int(Int32.max) - 102) claims in between left out"))
    #expect(told.sentence.contains("Claim 2 left no record"))
  }

  @Test("a history is read as far as it can be: numbers are bounded, and entries of another form are left out")
  func odd() throws {
    let entry = #"{"claim": 9223372036854775807, "by": "i", "woken_by": "poll", "known": {}, "decision": "sent"}"#
    for (history, count) in [("[\(entry), 7, {\"claim\": \"x\"}, \(entry)]", 2), ("{}", 0), ("7", 0)] {
      let read = try JSONDecoder().decode(ReadableHistory.self, from: Data(history.utf8))
      #expect(read.wrappedValue.map(\.claim) == Array(repeating: Int(Int32.max), count: count))
    }
  }

  @Test("a host whose functions failed is named, and nobody is said to take no part")
  func host() {
    var told = Told()
    told.event.source = nil
    told.event.hostFailure = "SQLSTATE P0001"
    told.recipient.isParticipant = false
    #expect(
      told.explanation.summary.hasSuffix(
        "failed for it (SQLSTATE P0001), so this is told from Tacet's own tables alone."))
    #expect(told.sentence.hasPrefix("Nothing is recorded for the user; whether it concerns them is not known"))
  }
}

@Suite("What a burst did to a message, in words")
struct FoldWordsTests {
  private func told(_ fold: HistoryEntry.Fold?, _ decision: OutcomeDecision, _ reason: String? = nil) -> Told {
    var told = Told()
    told.claim(
      1, at: 2_000, wokenBy: "notify", decision: decision, reason: reason,
      attempts: decision == .sent ? [Told.attempt()] : [])
    told.history[0].fold = fold
    told.recipient.ledger?.history = told.history
    return told
  }

  private func fold(_ sounds: Bool, _ more: Int, _ burst: String? = nil) -> HistoryEntry.Fold {
    .init(sounds: sounds, more: more, burst: burst.map(HostID.init(text:)), begunAt: 2_000)
  }

  private func verdicts(_ told: Told) -> [String] {
    told.explanation.recipients[0].steps.filter { $0.what == .decided }.map(\.text)
  }

  @Test("the first message sounds; where nothing folds the words are plain")
  func first() {
    let told = told(fold(true, 0), .sent)
    #expect(verdicts(told) == ["decided: send with sound, because no rule objects; it begins a burst"])
    #expect(told.sentence.hasPrefix("A push was sent: it was accepted for 1 device"))
    #expect(verdicts(self.told(nil, .sent)) == ["decided: send, because no rule objects"])
  }

  @Test("a follower is an update, or sounds where nothing of the burst is shown, or is shown by the newer push")
  func followers() {
    let mark = HostID(text: "first").shortMark
    let sent = told(fold(false, 4, "first"), .sent)
    #expect(
      verdicts(sent) == ["decided: send without sound, as an update of the notification of message \(mark): +4 more"])
    #expect(
      sent.sentence.hasPrefix("A silent update of the notification of its burst (+4 more) was sent: it was accepted"))
    #expect(
      verdicts(told(fold(true, 1, "first"), .sent)) == [
        "decided: send with sound, in the notification of message \(mark), of which nothing is shown: +1 more"
      ])
    let folded = told(fold(false, 4, "first"), .skipped, "folded")
    let verdict = "decided: no push (folded): the notification of its burst shows a newer message; +4 more"
    #expect(verdicts(folded) == [verdict])
    let sentence = "No push, because the notification of its burst shows a newer message, and counts this one."
    #expect(folded.sentence.hasPrefix(sentence))
  }
}

@Suite("Attempts at devices, in words")
struct AttemptWordsTests {
  @Test(
    "an accepted push says what was kept back of it, and why",
    arguments: [
      ("sender", "with the sender's name alone"), ("none", "without content"), ("sealed", "sealed for the device"),
      ("no_key", "without content, because the device has no key to seal it for"), ("new", "with content new"),
    ])
  func content(_ note: String, _ words: String) {
    #expect(
      Self.words([Self.attempt("accepted", content: note)]) == ["APNs accepted the push for device aaaaaaaa, \(words)"])
  }

  @Test("each end of an attempt has its sentence, by whom was asked")
  func ends() {
    let attempts: [HistoryEntry.Attempt] = [
      Self.attempt("elsewhere", "BadDeviceToken"), Self.attempt("accepted"),
      Self.attempt("accepted", locale: "de", asked: "de-AT"), Self.attempt("dropped", "Unregistered"),
      Self.attempt("refused", "http_404", route: "fcm/demo"),
      Self.attempt("refused", "app_not_configured", status: nil),
      Self.attempt("postponed", "answer_late", route: "web_push/example.com"),
      Self.attempt("waiting", "apns_unreachable", status: nil), Self.attempt("impossible"),
    ]
    let lines = """
      not for device aaaaaaaa in this environment: APNs does not know the device token, or it is of the other environment \
      (BadDeviceToken); the other one was asked next
      APNs accepted the push for device aaaaaaaa; its environment was noted
      APNs accepted the push for device aaaaaaaa, in de, since the device asks for de-AT; its environment was noted
      APNs refused device aaaaaaaa: the app is no longer on the device, or was registered anew (Unregistered); its token was \
      dropped
      FCM refused device aaaaaaaa: FCM answered 404 without a reason
      not sent to device aaaaaaaa: the app of the device is not configured in the service (app_not_configured)
      put off for device aaaaaaaa: the push service did not answer in time, so it may have delivered the push (answer_late)
      not sent to device aaaaaaaa, because its route takes no pushes: APNs could not be reached, and has certainly not seen \
      the push (apns_unreachable)
      the other environment could tell nothing about device aaaaaaaa: no reason was given
      """
    #expect(Self.words(attempts).joined(separator: "\n") == lines)
  }

  private static func attempt(
    _ verdict: String, _ reason: String? = nil, route: String = "com.example.app/production", status: Int? = 200,
    content: String? = nil, locale: String? = nil, asked: String? = nil
  ) -> HistoryEntry.Attempt {
    .init(
      mark: "aaaaaaaa", route: route, endedMicroseconds: 900, status: status, reason: reason, content: content,
      verdict: verdict, locale: locale, askedLocale: asked)
  }

  private static func words(_ attempts: [HistoryEntry.Attempt]) -> [String] {
    var told = Told()
    told.claim(decision: .sent, attempts: attempts)
    return told.explanation.recipients[0].steps.filter { $0.what == .attempt }.map(\.text)
  }
}

@Suite("Whether a push is unread, in words")
struct UnreadStepsTests {
  private static let minute: Int64 = 60_000_000
  private static let at = Told.committedAt + 15 * minute

  private func facts(_ state: UnreadFacts.State, attempts: Int = 1) -> UnreadFacts {
    UnreadFacts(
      logID: UUID(), state: state, attempts: attempts, sentAt: Told.committedAt, occurredAt: Self.at,
      at: Self.at + Self.minute)
  }

  @Test("it says when the push is looked at, whether the host took the event, and what is wrong with its answers")
  func states() {
    let time = TimeText.instant(Self.at + Self.minute)
    var tried = facts(.waiting, attempts: 2)
    tried.error = "status 503"
    var dead = tried
    dead.state = .dead
    var taken = facts(.taken)
    taken.status = 200
    let states = [facts(.checkedLater, attempts: 0), facts(.waiting, attempts: 0), tried, dead, taken]
    let unread = "not read or opened for 15 min:"
    let refused = "\(unread) the host has not taken push.unread in 2 attempts (status 503)"
    let expected = [
      "if it is not read or opened by \(time), push.unread goes to the host",
      "\(unread) push.unread is about to be sent to the host", "\(refused); the next is at \(time)",
      "\(refused), and nobody tries again",
      "\(unread) push.unread was sent to the host, taken with 200 at \(time)",
    ]
    #expect(states.map { $0.text(sentAt: nil) } == expected)
  }

  @Test(
    "it says why the host was not told",
    arguments: [
      ("opened", "the push was opened"), ("read", "the message was read"), ("seen", "the user has looked since"),
      ("deleted", "what it was about is deleted"), ("cancelled", "it was cancelled"),
      ("left", "the user is no recipient any more"), ("user_gone", "the user is deleted"),
      ("opted_out", "the user wants none"), ("not_known", "a function of the host failed for an hour"),
      ("pushed_today", "pushed_today"), (nil, "the reason was not kept"),
    ] as [(String?, String)])
  func causes(_ reason: String?, _ words: String) {
    var unread = facts(.cancelled, attempts: 0)
    unread.reason = reason
    #expect(unread.text(sentAt: nil) == "no push.unread to the host: \(words)")
    unread.attempts = 1
    #expect(unread.text(sentAt: nil) == "no push.unread to the host, after 1 attempt: \(words)")
  }

  @Test("it is a step of the recipient's story, before now and in the order of time")
  func step() {
    var told = Told()
    told.claim(decision: .sent)
    told.recipient.unread = facts(.taken)
    let steps = RecipientStory(told.event, told.recipient, [:]).steps
    #expect(steps.suffix(2).map(\.what) == [.unread, .now])
    #expect(steps.dropLast().last?.at == Self.at + Self.minute)
  }
}
