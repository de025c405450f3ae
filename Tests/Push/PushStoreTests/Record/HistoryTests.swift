import Foundation
import PushRules
import Testing

@testable import PushStore

@Suite("The history of a push")
struct HistoryTests {
  /// What the ledger keeps about the only recipient.
  private func history(in database: TestDatabase) async throws -> [HistoryEntry] {
    let json = try await database.sql("select history from tacet.push_log")
    return try JSONDecoder().decode([HistoryEntry].self, from: Data(json.utf8))
  }

  /// Claims, and records an outcome with all that the pipeline says beside it.
  private func decide(
    _ chat: Chat, by instance: String = "0123abcd", isTakenOver: Bool = false,
    _ outcome: @escaping @Sendable (PushRecipient) -> RecipientOutcome
  ) async throws {
    var events = try await claim(chat.database)
    try #require(events.count == 1)
    events[0].isTakenOver = isTakenOver
    let outcomes = events[0].recipients.map { recipient in
      var outcome = outcome(recipient)
      outcome.recipient = recipient
      return outcome
    }
    var decided = DecidedEvent(event: events[0], outcomes: outcomes, deadTargets: [], wokenBy: "notify")
    decided.decider = Decider(instance: instance, policy: SuppressionPolicy(window: .seconds(60)))
    try await withStore(chat.database) { [decided] in try await $0.record([decided], on: $1) }
  }

  @Test("has an entry for every claim: what was known, what was decided, and what was tried")
  func entries() async throws {
    let chat = try await Chat()
    try await chat.register("0123456789abcdef")
    try await chat.see("now() - interval '10 seconds'")
    let message = try await chat.send()
    try await decide(chat) { .held($0.userID) }
    try await chat.database.sql(
      "update public.messages set read_by = array['\(chat.reader)']::uuid[] where id = '\(message)'")
    try await decide(chat, by: "fedc3210", isTakenOver: true) {
      var outcome = RecipientOutcome.sent($0.userID, to: [])
      outcome.deviceAttempts = [
        HistoryEntry.Attempt(
          mark: $0.targets[0].address, route: "com.example.app/production", endedMicroseconds: 900, status: 410,
          reason: "a \"reason\"\\", identifier: "id", verdict: "dropped", locale: "de", askedLocale: "de-AT")
      ]
      return outcome
    }
    let entries = try await history(in: chat.database)
    #expect(entries.map(\.claim) == [1, 2])
    #expect(entries.map(\.instance) == ["0123abcd", "fedc3210"])
    #expect(entries.map(\.isTakenOver) == [false, true])
    #expect(entries.map(\.decision) == [.held, .sent])
    #expect(entries.map(\.releasedBy) == [nil, "read"])
    #expect(entries[0].releasedAt == nil)
    #expect(entries[1].releasedAt.map { entries[0].claimedAt < $0 && $0 < entries[1].claimedAt } == true)
    #expect(entries.map(\.remaining) == ["held", nil])
    #expect(entries[0].dueMicroseconds == 60_000_000 && entries[0].reason == "user_viewing")
    #expect(entries[0].situation.lastSeenAge.map { (.seconds(10)..<Duration.seconds(60)).contains($0) } == true)
    #expect(entries[0].situation.policy == SuppressionPolicy(window: .seconds(60), timeToLive: .seconds(3600)))
    #expect(entries[1].situation.hasRead && !entries[0].situation.hasRead)
    #expect(entries[1].situation.heldFor > .zero && entries[1].situation.deviceCount == 1)
    #expect(entries[1].attempts.map(\.device) == ["01234567"])
    #expect(entries[1].attempts.map(\.reason) == ["a \"reason\"\\"])
    #expect(entries[1].attempts.map(\.status) == [410])
    #expect(entries[1].attempts.map(\.locale) == ["de"] && entries[1].attempts.map(\.askedLocale) == ["de-AT"])
  }

  @Test("of more than forty entries the first twenty stay, and the newest")
  func bounded() async throws {
    let chat = try await Chat()
    try await chat.register("aa")
    try await chat.send()
    for _ in 1...45 {
      try await decide(chat) { .held($0.userID, for: .zero) }
    }
    #expect(try await history(in: chat.database).map(\.claim) == Array(1...20) + Array(26...45))
  }

  @Test("a record that is written again, because its answer was lost, adds nothing")
  func writtenAgain() async throws {
    let chat = try await Chat()
    try await chat.register("aa")
    try await chat.send()
    let events = try await claim(chat.database)
    let outcomes = events[0].recipients.map { recipient in
      var outcome = RecipientOutcome.sent(recipient.userID)
      outcome.recipient = recipient
      return outcome
    }
    let decided = DecidedEvent(event: events[0], outcomes: outcomes, deadTargets: [], wokenBy: "notify")
    for _ in 1...2 { try await withStore(chat.database) { try await $0.record([decided], on: $1) } }
    #expect(try await history(in: chat.database).map(\.claim) == [1])
  }

  @Test("names what ended a hold", arguments: News.allCases)
  func causes(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await scene.chat.database.sql(scene.sql(news))
    let claimed = try await claim(scene.chat.database)
    let expected = [
      News.read: "read", .seen: "seen", .leftScreen: "left", .deleted: "deleted", .leftGroup: "removed",
    ]
    #expect(claimed.first?.recipients.first?.releasedBy == expected[news])
  }

  @Test("names preferences, a host's own trigger and the second look as what ended a hold; the end of its time is none")
  func otherCauses() async throws {
    for (sql, expected) in [
      ("select tacet.release_user(user_id) from tacet.deliveries", "preferences"),
      ("select tacet.release_conversation(conversation_id, user_id) from tacet.deliveries", "host"),
      ("update tacet.deliveries set due_at = clock_timestamp()", nil),
    ] {
      let scene = try await HeldScene.held()
      try await scene.chat.database.sql(sql)
      #expect(try await claim(scene.chat.database).first?.recipients.first?.releasedBy == expected)
    }
    let scene = try await HeldScene.held()
    try await scene.chat.database.sql(
      """
      alter table public.conversation_participants disable trigger user;
      update public.conversation_participants set tacet_left_at = clock_timestamp()
      """)
    #expect(try await withStore(scene.chat.database) { try await $0.review([scene.hold], on: $1).released } == 1)
    #expect(try await claim(scene.chat.database).first?.recipients.first?.releasedBy == "review")
  }

  @Test("a hold that begins anew has not been released")
  func again() async throws {
    let scene = try await HeldScene.held()
    try await scene.chat.database.sql(scene.sql(.leftScreen))
    try await scene.chat.record(try await claim(scene.chat.database)) { .held($0) }
    #expect(
      try await scene.chat.database.sql("select released_by is null and released_at is null from tacet.deliveries")
        == "t")
  }

  @Test("moments and ages of a record can be added, whatever it says", arguments: [Int64.max, .min, 1 << 62, -1 << 62])
  func extremes(number: Int64) throws {
    let json = """
      {"claim": 1, "at": \(number), "by": "a", "woken_by": "poll", "woken_us": \(number), "decided_us": \(number),
       "due_us": \(number), "released_at": \(number), "decision": "sent",
       "known": {"message_us": \(number), "seen_us": \(number)},
       "attempts": [{"device": "a", "ended_us": \(number), "verdict": "accepted"}]}
      """
    let entry = try JSONDecoder().decode(HistoryEntry.self, from: Data(json.utf8))
    let bound = number < 0 ? Int64(-1) << 61 : 1 << 61
    #expect(entry.claimedAt == bound && entry.decidedMicroseconds == bound && entry.dueMicroseconds == bound)
    #expect(entry.releasedAt == bound && entry.wokenMicroseconds == bound)
    #expect(entry.attempts.map(\.endedMicroseconds) == [bound])
  }

  @Test(
    "keeps the first attempts of a claim, as many as fit, and says how many it left out", arguments: [20, 21, 200])
  func attempts(_ count: Int) async throws {
    let chat = try await Chat()
    try await chat.register("aa")
    try await chat.send()
    let mark = "a" + String(repeating: "\u{301}", count: 115_000)
    try await decide(chat) {
      var outcome = RecipientOutcome.sent($0.userID, to: [])
      outcome.deviceAttempts = (0..<count).map { number in
        HistoryEntry.Attempt(mark: mark, route: nil, endedMicroseconds: Int64(number), verdict: "refused")
      }
      return outcome
    }
    let entry = try #require(try await history(in: chat.database).first)
    #expect(entry.attempts.map(\.endedMicroseconds) == (0..<20).map { Int64($0) })
    #expect(entry.attemptsLeftOut == count - 20)
    #expect(entry.attempts.allSatisfy { $0.device.utf8.count <= 10 })
    let length = try await chat.database.sql("select octet_length(history::text) from tacet.push_log")
    #expect(try #require(Int(length)) < 5000)
  }

  @Test("keeps four kilobytes of long attempts")
  func longAttempts() async throws {
    let chat = try await Chat()
    try await chat.register("aa")
    try await chat.send()
    try await decide(chat) {
      var outcome = RecipientOutcome.sent($0.userID, to: [])
      outcome.deviceAttempts = (0..<20).map { _ in
        HistoryEntry.Attempt(
          mark: "aa", route: String(repeating: "r", count: 1000), endedMicroseconds: 0, verdict: "refused")
      }
      return outcome
    }
    let entry = try #require(try await history(in: chat.database).first)
    #expect(entry.attempts.count == 4)
    #expect(entry.attemptsLeftOut == 16)
  }

  @Test("has what a message did in its burst")
  func folds() async throws {
    let chat = try await Chat()
    try await chat.register("aa")
    for fold in [
      nil, HistoryEntry.Fold(sounds: true, more: 0, begunAt: 5),
      .init(sounds: false, more: 3, burst: HostID(text: "f"), begunAt: 6),
    ] {
      try await chat.send()
      try await decide(chat) {
        var outcome = RecipientOutcome.sent($0.userID, to: [])
        outcome.fold = fold
        return outcome
      }
      let stored = try await chat.database.sql(
        "select history -> 0 ->> 'fold' from tacet.push_log order by enqueued_at desc limit 1")
      let expected = [
        0: #"{"sound": true, "begun_us": 5}"#, 3: #"{"more": 3, "burst": "f", "sound": false, "begun_us": 6}"#,
      ]
      #expect(stored == fold.map { expected[$0.more] ?? "" } ?? "")
    }
  }
}
