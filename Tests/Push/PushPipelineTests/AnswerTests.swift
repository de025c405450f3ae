import Channels
import FoundationEssentials
import Postgres
import PushStore
import Reactors
import Testing

@testable import PushPipeline
@testable import PushRules

@Suite("What becomes of a push after each answer", .serialized)
struct AnswerTests {
  /// What an answer leaves behind on a route that works: in the ledger, in the queue, and of the token.
  struct Case: Sendable, CustomTestStringConvertible {
    let status: Int
    let reason: APNSReason?
    /// The ledger's decision, and the queue's state if anything remains.
    let result: String
    var dropsToken = false
    var sends = 1

    var testDescription: String { "\(status) \(reason?.rawValue ?? "")" }
  }

  /// One of each ruling; the table of answers is judged in the tests of channels.
  static let cases = [
    Case(status: 400, reason: "BadTopic", result: "failed"), Case(status: 400, reason: nil, result: "failed"),
    Case(status: 413, reason: "PayloadTooLarge", result: "failed"),
    Case(status: 400, reason: "BadDeviceToken", result: "failed", dropsToken: true, sends: 2),
    Case(status: 400, reason: "DeviceTokenNotForTopic", result: "failed"),
    Case(status: 410, reason: "Unregistered", result: "failed", dropsToken: true),
    Case(status: 410, reason: "SomeFutureReason", result: "failed", dropsToken: true),
    Case(status: 429, reason: "TooManyRequests", result: "held retryable"),
    Case(status: 500, reason: "InternalServerError", result: "held retryable"),
    Case(status: 502, reason: nil, result: "held retryable"),
    Case(status: 429, reason: "TooManyProviderTokenUpdates", result: "held waiting"),
    Case(status: 503, reason: "Shutdown", result: "held waiting"),
    Case(status: 403, reason: "InvalidProviderToken", result: "held waiting"),
    Case(status: 403, reason: "ExpiredProviderToken", result: "held waiting"),
    Case(status: 301, reason: nil, result: "held waiting"),
  ]

  @Test("the ledger has APNs' word, what can still be sent waits, and only a bad token is dropped", arguments: cases)
  func answers(_ answer: Case) async throws {
    try await Chat.run(devices: [], configure: { $0.retry.base = .seconds(60) }) { rig, chat, reactor in
      try await rig.prove(chat, on: reactor)
      rig.channel.answer = { _, _ in .answered(answer.status, answer.reason) }
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcome = try #require(try await rig.outcomes(of: id, on: reactor).first)
      #expect(outcome.reason == answer.reason?.rawValue ?? "http_\(answer.status)")
      let state = try await rig.value(
        "select coalesce((select ' ' || state from tacet.deliveries), '')", as: String.self, on: reactor)
      #expect(outcome.decision.rawValue + state == answer.result)
      #expect(try await rig.isDropped(on: reactor) == answer.dropsToken)
      #expect(rig.channel.sent.count == 1 + answer.sends)
      #expect(Set(rig.channel.sent.dropFirst().map(\.identifier)).count == 1)
      #expect(rig.pipeline.fault(of: PushFixtures.route) == nil, "one answer shuts no lane that works")
    }
  }

  @Test("another app's token is dropped only where its registration names an app: the default may have changed since")
  func otherApps() async throws {
    try await Chat.run(of: 2, devices: []) { rig, chat, reactor in
      try await rig.prove(chat, on: reactor)
      try await rig.execute(
        "update public.push_tokens set app = 'com.example.app' where device_token = 'aa1001'", on: reactor)
      rig.channel.answer = { _, _ in .otherApps }
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor) { $0.count == 2 }
      #expect(outcomes.map(\.reason) == ["DeviceTokenNotForTopic", "DeviceTokenNotForTopic"])
      let dropped = "select string_agg(device_token, ' ') from public.push_tokens where invalidated_at is not null"
      #expect(try await rig.value(dropped, as: String?.self, on: reactor) == "aa1001")
    }
  }

  @Test("a reason that cannot be printed or stored is recorded all the same, with marks in its place")
  func unprintable() async throws {
    try await Chat.run { rig, chat, reactor in
      let reason = "Odd\u{0}\n" + String(repeating: "!", count: 100_000)
      rig.channel.answer = { _, _ in .answered(400, APNSReason(rawValue: reason)) }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.map(\.reason) == ["Odd??" + String(repeating: "!", count: 59)])
      try await rig.nothingLeft(on: reactor)
    }
  }

  @Test(
    "a dead token's date that no clock can have meant does no harm",
    arguments: [Int64.max, .min, 253_402_300_800_000_000])
  func oddDates(_ milliseconds: Int64) async throws {
    try await Chat.run { rig, chat, reactor in
      rig.channel.answer = { _, _ in
        .answered(APNSAnswer(status: 410, reason: "Unregistered", timestampMilliseconds: milliseconds))
      }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.reason) == ["Unregistered"])
      #expect(try await rig.isDropped(on: reactor) == (milliseconds > 0))
    }
  }

  @Test("what one device gets too often is put off by minutes, twice as long each time, and nobody else waits")
  func tooMany() async throws {
    try await Chat.run(of: 2) { rig, chat, reactor in
      rig.channel.answer = { push, _ in push.token == "00aa" ? .limited : .accepted }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      var waits: [Int64] = []
      for attempt in 1...3 {
        _ = try await rig.outcomes(of: id, on: reactor) { _ in rig.channel.sent.count == attempt + 1 }
        let retries = "select coalesce(max(retries), 0) from tacet.deliveries where not is_claimed"
        try await rig.await(Int32(attempt), of: retries, on: reactor)
        waits.append(
          try await rig.value(
            "select extract(epoch from due_at - since)::bigint from tacet.deliveries", as: Int64.self, on: reactor))
        try await rig.execute("update tacet.deliveries set due_at = now()", on: reactor)
        rig.pipeline.wake(.due, on: reactor)
      }
      for (wait, minutes) in zip(waits, [1, 2, 4] as [Int64]) {
        #expect((60 * minutes...90 * minutes).contains(wait), "\(waits)")
      }
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(Set(outcomes.map(\.decision)) == [.held, .sent])
    }
  }

  @Test(
    "the wait for the next try begins with the answer, however late that comes",
    arguments: [APNSOutcome.answerLost, .busy, .limited])
  func lateAnswer(_ attempt: APNSOutcome) async throws {
    try await Chat.run(configure: { $0.retry.base = .milliseconds(1) }) { rig, chat, reactor in
      rig.channel.answer = { _, _ in attempt }
      rig.channel.holds = true
      let id = try await chat.post(on: reactor)[0]
      rig.start(on: reactor)
      try await rig.channel.received(1, on: reactor)
      try await rig.execute("select pg_sleep(0.3)", on: reactor)
      rig.channel.release(1, on: reactor)
      _ = try await rig.outcomes(of: id, on: reactor)
      let wait = try await rig.value(
        "select max((h ->> 'due_us')::bigint) from tacet.push_log, jsonb_array_elements(history) h", as: Int64.self,
        on: reactor)
      let asked: Int64 = attempt == .limited ? 60_000_000 : 0
      #expect(wait >= asked + 300_000)
      rig.channel.answer = { _, _ in .accepted }
    }
  }

  @Test("a retry that would come after the message's life is not waited for: it has failed, and says why")
  func tooLate() async throws {
    try await Chat.run { rig, chat, reactor in
      rig.channel.answer = { _, _ in .limited }
      let id = try await chat.post(on: reactor)[0]
      try await rig.execute("update tacet.inbox set enqueued_at = now() - interval '59 min 1 s'", on: reactor)
      try await rig.execute("update public.messages set created_at = now() - interval '59 min 1 s'", on: reactor)
      rig.start(on: reactor)
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(outcomes.map(\.decision) == [.failed])
      #expect(outcomes.map(\.reason) == ["TooManyRequests"])
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 1)
    }
  }

  @Test("a push that APNs cannot handle while others pass is tried again by itself, and keeps nobody waiting")
  func lonelyFault() async throws {
    try await Chat.run(of: 2, configure: { $0.lanes.breaker.silence = .zero }) { rig, chat, reactor in
      rig.channel.answer = { push, number in push.token == "00aa" && number < 20 ? .broken : .accepted }
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      while rig.channel.sent.count < 10 {
        try await rig.execute(
          "update tacet.deliveries set due_at = now() where not is_claimed and due_at > now()", on: reactor)
        rig.pipeline.wake(.due, on: reactor)
        #expect(rig.pipeline.fault(of: PushFixtures.route) == nil)
      }
      let outcomes = try await rig.outcomes(of: id, on: reactor)
      #expect(Set(outcomes.map(\.decision)) == [.held, .sent])
      #expect(outcomes.first { $0.decision == .held }?.reason == "InternalServerError")
    }
  }
}
