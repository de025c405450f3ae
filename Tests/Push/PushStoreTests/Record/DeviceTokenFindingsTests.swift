import Foundation
import Postgres
import PushRules
import Reactors
import Testing

@testable import PushStore

@Suite("What is learnt of device tokens")
struct DeviceTokenFindingsTests {
  /// Microseconds since 1970 at which the tokens of these tests were registered, and which milliseconds can hold.
  private static let registered: Int64 = 1_700_000_000_123_000

  /// A chat whose reader has a token, and a claimed message to record something with.
  private static func scene(
    _ columns: [String: String] = [:]
  ) async throws -> (chat: Chat, events: [PushEvent]) {
    let chat = try await Chat()
    var columns = columns
    columns["registered_at"] = columns["registered_at"] ?? moment(registered)
    try await chat.register("aa", columns)
    try await chat.send()
    return (chat, try await claim(chat.database))
  }

  private static func moment(_ microseconds: Int64) -> String {
    "timestamptz 'epoch' + \(microseconds) * interval '1 microsecond'"
  }

  private static func decided(
    _ event: PushEvent, dead: [DeadTarget] = [], learnt: [LearntEnvironment] = []
  ) -> DecidedEvent {
    DecidedEvent(
      event: event, outcomes: event.recipients.map { .sent($0.userID) }, deadTargets: dead,
      learntEnvironments: learnt, wokenBy: "test")
  }

  private static func learnt(_ device: PushTarget, readAt: Int64) -> LearntEnvironment {
    LearntEnvironment(target: device, environment: "sandbox", readAt: readAt)
  }

  @Test(
    "a dead token is dropped when APNs found it dead no earlier than it was registered",
    arguments: [(-1, false), (0, true), (1, true)] as [(Int64, Bool)])
  func deadEdges(_ microsecondsLater: Int64, _ isDropped: Bool) async throws {
    let (chat, events) = try await Self.scene()
    let dead = DeadTarget(address: "aa", reason: "Unregistered", invalidSince: Self.registered + microsecondsLater)
    try await withStore(chat.database) { try await $0.record([Self.decided(events[0], dead: [dead])], on: $1) }
    let row = try await chat.database.sql("select invalidated_at is not null, invalidation_reason from push_tokens")
    #expect(row == (isDropped ? "t|Unregistered" : "f|"))
  }

  @Test(
    "an environment is learnt while the token's row says what was read",
    arguments: [
      // What the row says now; what was read; when, after the registration; whether it is learnt.
      ((nil, nil), (nil, nil), 0, true), ((nil, nil), (nil, nil), -1, false), ((nil, nil), (nil, nil), 1, true),
      (("production", nil), ("production", nil), 0, true), (("production", nil), (nil, nil), 0, false),
      ((nil, nil), ("production", nil), 0, false), ((nil, "com.a"), (nil, "com.a"), 0, true),
      ((nil, "com.b"), (nil, "com.a"), 0, false), ((nil, nil), (nil, "com.a"), 0, false),
    ] as [((String?, String?), (String?, String?), Int64, Bool)])
  func learnEdges(
    _ row: (String?, String?), _ read: (String?, String?), _ microsecondsLater: Int64, _ isLearnt: Bool
  ) async throws {
    var columns: [String: String] = [:]
    columns["environment"] = row.0.map { "'\($0)'" }
    columns["app"] = row.1.map { "'\($0)'" }
    let (chat, events) = try await Self.scene(columns)
    let device = PushTarget(address: "aa", environment: read.0, app: read.1)
    let learnt = Self.learnt(device, readAt: Self.registered + microsecondsLater)
    try await withStore(chat.database) { try await $0.record([Self.decided(events[0], learnt: [learnt])], on: $1) }
    let environment = try await chat.database.sql("select environment from push_tokens")
    #expect(environment == (isLearnt ? "sandbox" : row.0 ?? ""))
    #expect(try await chat.left() == "0|0")
  }

  @Test("what was learnt is what the next claim reads")
  func nextClaim() async throws {
    let (chat, events) = try await Self.scene()
    let device = try #require(events.first?.recipients.first?.targets.first)
    let learnt = Self.learnt(device, readAt: events[0].claimedAt)
    try await withStore(chat.database) { try await $0.record([Self.decided(events[0], learnt: [learnt])], on: $1) }
    try await chat.send()
    let next = try await claim(chat.database).first?.recipients.first?.targets
    #expect(next == [PushTarget(address: "aa", environment: "sandbox")])
  }

  /// What a record that meets an uncommitted registration does to the token. It waits for nobody: what it would have said is said
  /// by the answer to the next push.
  private func race(
    _ registration: String, commits: Bool, dead: Bool
  ) async throws -> String {
    let (chat, events) = try await Self.scene()
    try await withSessions(chat.database, 2) { sessions, reactor in
      let (host, service) = (sessions[0], sessions[1])
      try await host.run("begin; \(registration)", on: reactor)
      let device = PushTarget(address: "aa")
      let decided = Self.decided(
        events[0],
        dead: dead ? [DeadTarget(address: "aa", reason: "gone", invalidSince: events[0].claimedAt)] : [],
        learnt: dead ? [] : [Self.learnt(device, readAt: events[0].claimedAt)])
      try await service.record([decided], on: reactor)
      try await host.run(commits ? "commit" : "rollback", on: reactor)
    }
    return try await chat.database.sql(
      "select coalesce(environment, 'none'), invalidated_at is not null from push_tokens")
  }

  private static let registerAgain =
    "update public.push_tokens set registered_at = clock_timestamp() where device_token = 'aa'"

  @Test(
    "a verdict does not wait for a registration that is being committed, and passes over it", arguments: [true, false])
  func deadRace(_ commits: Bool) async throws {
    #expect(try await race(Self.registerAgain, commits: commits, dead: true) == "none|f")
  }

  @Test(
    "what was learnt does not wait for a registration that is being committed, and passes over it",
    arguments: [true, false])
  func learnRace(_ commits: Bool) async throws {
    #expect(try await race(Self.registerAgain, commits: commits, dead: false) == "none|f")
  }

  @Test("a registration that names its environment keeps it, also when its clock is behind")
  func learnRaceBehind() async throws {
    let registration = "update public.push_tokens set environment = 'production' where device_token = 'aa'"
    #expect(try await race(registration, commits: true, dead: false) == "production|f")
  }

  @Test("two records that tell of the same tokens in different ways and orders end beside a transaction of the host")
  func oppositeOrders() async throws {
    let chat = try await Chat(readers: 2)
    let tokens = (0..<40).map { "a\($0 + 10)" }
    for token in tokens { try await chat.register(token, ["registered_at": Self.moment(Self.registered)]) }
    try await chat.send()
    try await chat.send()
    let events = try await claim(chat.database)
    #expect(events.count == 2)
    let dead = tokens.map { DeadTarget(address: $0, reason: "gone", invalidSince: Self.registered) }
    let learnt = tokens.map { Self.learnt(PushTarget(address: $0), readAt: Self.registered) }
    try await withSessions(chat.database, 3) { sessions, reactor in
      try await sessions[0].run(
        "begin; select from public.push_tokens where device_token = 'a30' for update", on: reactor)
      let first = Self.decided(events[0], dead: Array(dead[..<20]), learnt: Array(learnt[20...]))
      let second = Self.decided(events[1], dead: dead[20...].reversed(), learnt: learnt[..<20].reversed())
      let records = [first, second].enumerated().map { number, decided in
        Begun.begin(on: reactor) { try await sessions[number + 1].record([decided], on: reactor) }
      }
      for record in records { try await record.value(on: reactor) }
      try await sessions[0].run("commit", on: reactor)
    }
    #expect(try await chat.left() == "0|0")
  }

  @Test("how often a push was put off is kept with it, and starts anew with another")
  func retries() async throws {
    let chat = try await Chat()
    try await chat.decide {
      var outcome = RecipientOutcome(userID: $0, decision: .held, due: .zero, remaining: .retryable)
      outcome.retries = 3
      return outcome
    }
    #expect(try await claim(chat.database, lease: .zero).first?.recipients.map(\.retries) == [3])
    try await chat.decide {
      var outcome = RecipientOutcome(userID: $0, decision: .held, due: .zero, remaining: .held)
      outcome.retries = 70_000
      return outcome
    }
    #expect(try await claim(chat.database).first?.recipients.map(\.retries) == [32767])
    try await chat.send()
    #expect(try await claim(chat.database).first?.recipients.map(\.retries) == [0])
  }
}
