import Foundation
import FoundationEssentials
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
  private func told(_ folds: [HistoryEntry.Fold?], _ last: OutcomeDecision, _ reason: String? = nil) -> Told {
    var told = Told()
    for (place, fold) in folds.enumerated() {
      let isLast = place == folds.count - 1
      told.claim(
        place + 1, at: 2_000 + Int64(place) * 1_000_000, wokenBy: isLast ? "due" : "notify",
        decision: isLast ? last : .held, reason: isLast ? reason : "folding", due: isLast ? nil : 1_000_000,
        remaining: isLast ? nil : "held", attempts: isLast && last == .sent ? [Told.attempt()] : [])
      told.history[place].fold = fold
    }
    told.recipient.ledger?.history = told.history
    return told
  }

  private func fold(_ sounds: Bool, _ more: Int) -> HistoryEntry.Fold {
    .init(sounds: sounds, more: more, burst: "ab12cd34")
  }

  private func verdicts(_ told: Told) -> [String] {
    told.explanation.recipients[0].steps.filter { $0.what == .decided }.map(\.text)
  }

  @Test("the first message sounds")
  func first() {
    let told = told([fold(true, 0)], .sent)
    #expect(verdicts(told) == ["decided: send with sound, because no rule objects; it begins a burst"])
    #expect(told.sentence.hasPrefix("A push was sent: APNs accepted it for 1 device"))
  }

  @Test("a follower waits and becomes the update")
  func update() {
    let told = told([fold(false, 3), fold(false, 4)], .sent)
    #expect(
      verdicts(told) == [
        "decided: held for 1 s (folding): it follows others of the burst that message ab12cd34 began",
        "decided: send without sound, as an update of the notification of message ab12cd34: +4 more",
      ])
    #expect(
      told.sentence.hasPrefix("A silent update of the notification of its burst (+4 more) was sent: APNs accepted"))
    #expect(
      told.sentence.contains(
        "Until then it was held, because the message followed others of a burst, whose notification changes once a second at most"
      ))
  }

  @Test("a follower is shown by the newer push")
  func folded() {
    let told = told([fold(false, 3), fold(false, 4)], .skipped, "folded")
    #expect(
      verdicts(told).last
        == "decided: no push (folded): the notification of its burst shows a newer message; +4 more")
    #expect(
      told.sentence.hasPrefix(
        "No push, because the notification of its burst shows a newer message, and counts this one."))
  }

  @Test("where nothing folds the words are as they were")
  func none() {
    #expect(verdicts(told([nil], .sent)) == ["decided: send, because no rule objects"])
  }
}

@Suite("Words for content that was kept back")
struct ContentWordsTests {
  @Test(
    "what was kept back of a push, and why",
    arguments: [
      ("sender", "with the sender's name alone"), ("none", "without content"), ("sealed", "sealed for the device"),
      ("no_key", "without content, because the device has no key to seal it for"), ("new", "with content new"),
    ])
  func words(_ note: String, _ words: String) {
    #expect(HistoryEntry.Attempt.words(ofContent: note) == words)
  }

  @Test("an accepted push says it")
  func step() {
    var told = Told()
    told.claim(
      decision: .sent,
      attempts: [
        .init(
          mark: "aaaaaaaa", route: "com.example.app/production", endedMicroseconds: 900, status: 200, identifier: "id",
          content: "no_key", verdict: "accepted")
      ])
    #expect(
      told.explanation.recipients[0].steps.filter { $0.what == .attempt }.map(\.text) == [
        "APNs accepted the push for device aaaaaaaa, without content, because the device has no key to seal it for"
      ])
  }
}

@Suite("Whether a push is unread, in words")
struct UnreadStepsTests {
  private static let minute: Int64 = 60_000_000
  private static let at = Told.committedAt + 15 * minute

  private func facts(_ state: UnreadFacts.State, attempts: Int = 1) -> UnreadFacts {
    UnreadFacts(
      logID: UUID(), state: state, occurredAt: Self.at, at: Self.at + Self.minute, attempts: attempts,
      sentAt: Told.committedAt)
  }

  private func text(_ unread: UnreadFacts) -> String {
    unread.text(sentAt: nil)
  }

  @Test("it says when the push is looked at, whether the host took the event, and what is wrong with its answers")
  func states() {
    var unread = facts(.checkedLater, attempts: 0)
    let time = TimeText.instant(Self.at + Self.minute)
    #expect(text(unread) == "if it is not read or opened by \(time), push.unread goes to the host")
    unread = facts(.waiting, attempts: 0)
    #expect(text(unread) == "not read or opened for 15 min: push.unread is about to be sent to the host")
    unread = facts(.waiting, attempts: 2)
    unread.error = "status 503"
    #expect(
      text(unread)
        == "not read or opened for 15 min: the host has not taken push.unread in 2 attempts (status 503); the next is at \(time)"
    )
    unread.state = .dead
    #expect(
      text(unread)
        == "not read or opened for 15 min: the host has not taken push.unread in 2 attempts (status 503), and nobody tries again"
    )
    unread = facts(.taken)
    unread.status = 200
    #expect(
      text(unread) == "not read or opened for 15 min: push.unread was sent to the host, taken with 200 at \(time)")
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
    #expect(text(unread) == "no push.unread to the host: \(words)")
    unread.attempts = 1
    #expect(text(unread) == "no push.unread to the host, after 1 attempt: \(words)")
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
