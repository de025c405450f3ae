import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestRandomness
import Testing

@testable import PushStore

@Suite("Live Activities under random schedules")
struct LiveActivityScheduleTests {
  /// What a device shows. It takes a push that is not older than the last one, until the activity has ended.
  private struct Screen {
    var elapsed = -1
    var timestamp: Int64 = 0
    var hasEnded = false
    var appliedAfterEnd = 0

    mutating func take(_ payload: LiveActivityPayload) {
      guard !hasEnded, payload.timestamp >= timestamp else { return }
      timestamp = payload.timestamp
      elapsed = payload.elapsed ?? -1
      if case .end = payload.event { hasEnded = true }
    }
  }

  /// Activities, two replicas that are killed at any moment, and the devices.
  private final class World {
    let scene: LiveActivityScene
    let count: Int
    var generator: SeededGenerator
    /// By update token; a push to an old token reaches nobody.
    var screens: [String: Screen] = [:]
    var tokens: [String: String] = [:]
    var late: [(LiveActivityPayload, [String])] = []
    var elapsed = 0
    var ended: Set<String> = []
    /// When a push of each activity was claimed first, by its subject.
    var begun: [String: [PushSubject: Int64]] = [:]

    init(_ scene: LiveActivityScene, count: Int, seed: UInt64) {
      self.scene = scene
      self.count = count
      generator = SeededGenerator(seed: seed)
    }

    func draw(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &generator) }

    /// The host and the apps: the next state, the end, or a new token of some activities.
    func change(_ session: Session, times: Int, on reactor: isolated Reactor) async throws {
      for _ in 0..<times {
        let id = "run\(draw(count))"
        switch draw(10) {
        case 0: try await report(id, session, on: reactor)
        case 1 where draw(4) == 0:
          ended.insert(id)
          try await session.run("select tacet.end_live_activity('\(id)', null, null, 'server')", on: reactor)
        default:
          elapsed += 1
          try await session.run(
            "select tacet.update_live_activity('\(id)', '\(LiveActivityScene.state(elapsed))')", on: reactor)
        }
      }
    }

    func report(_ id: String, _ session: Session, on reactor: isolated Reactor) async throws {
      let token = String(format: "%016llx", UInt64.random(in: 1...UInt64.max, using: &generator))
      let screen = tokens[id].flatMap { screens.removeValue(forKey: $0) } ?? Screen()
      tokens[id] = token
      screens[token] = screen
      try await session.run(
        "select tacet.put_activity_token('\(id)', '\(scene.user)', 'aa01', '\(token)', null, null)", on: reactor)
    }

    /// A replica: claims with leases that may be over at once, sends at once or late, and records or dies before it.
    func serve(_ session: Session, mayFail: Bool, on reactor: isolated Reactor) async throws -> Int {
      let lease = Duration.milliseconds(mayFail && draw(3) == 0 ? 0 : 60_000)
      let events = try await session.claim(lease: lease, on: reactor)
      var recorded: [PushEvent] = []
      for event in events.shuffled(using: &generator) {
        if mayFail { note(event) }
        let isLost = mayFail && lease == .zero && draw(2) == 0
        if isLost, draw(2) == 0 { continue }
        send(event, isLate: mayFail && draw(5) == 0)
        if !isLost { recorded.append(event) }
      }
      try await session.record(recorded, on: reactor) { user in
        let devices = recorded.flatMap(\.recipients).first { $0.userID == user }?.targets ?? []
        var outcome = RecipientOutcome(userID: user, decision: .sent, acceptedDevices: devices.map(\.address))
        outcome.acceptedMicroseconds = 1000
        return outcome
      }
      return events.count
    }

    /// A replica whose claim has the snapshot of before some changes: it leaves what has moved to the next claim, as a failure here.
    func serveLate(_ session: Session, _ host: Session, on reactor: isolated Reactor) async throws {
      try await session.run("begin isolation level repeatable read", on: reactor)
      _ = try await session.value("select count(*) from tacet.inbox", on: reactor)
      try await change(host, times: 2, on: reactor)
      do {
        let events = try await session.claim(on: reactor)
        try await session.run("commit", on: reactor)
        for event in events { send(event, isLate: false) }
        try await session.record(events, on: reactor) { user in
          let devices = events.flatMap(\.recipients).first { $0.userID == user }?.targets ?? []
          var outcome = RecipientOutcome(userID: user, decision: .sent, acceptedDevices: devices.map(\.address))
          outcome.acceptedMicroseconds = 1000
          return outcome
        }
      } catch let error as PostgresError where error.sqlState == .serializationFailure {
        try await session.run("rollback", on: reactor)
      }
    }

    private func note(_ event: PushEvent) {
      guard event.recipients.first?.situation.isCancelled == false, let payload = event.liveActivity,
        case .update = payload.event, let token = event.recipients.first?.targets.first?.address,
        let id = tokens.first(where: { $0.value == token })?.key, begun[id]?[event.subject] == nil
      else { return }
      begun[id, default: [:]][event.subject] = event.claimedAt
    }

    private func send(_ event: PushEvent, isLate: Bool) {
      guard let recipient = event.recipients.first, !recipient.situation.isCancelled, let payload = event.liveActivity
      else { return }
      let devices = recipient.targets.map(\.address)
      if isLate { late.append((payload, devices)) } else { show(payload, on: devices) }
    }

    func arrive() {
      for (payload, devices) in late.shuffled(using: &generator) { show(payload, on: devices) }
      late = []
    }

    private func show(_ payload: LiveActivityPayload, on devices: [String]) {
      for device in devices { screens[device]?.take(payload) }
    }
  }

  @Test(
    "2,000 activities over dead replicas, late pushes, new tokens and ends: each screen shows the last committed state")
  func screens() async throws {
    let scene = try await LiveActivityScene()
    let count = 2000
    try await scene.database.sql(
      """
      insert into tacet.activities (id, user_id, type, attributes, state, version)
      select 'run' || n, '\(scene.user)', '\(LiveActivityScene.type)', '{}',
        '\(LiveActivityScene.state(-1))', 1 from generate_series(0, \(count - 1)) n
      """)
    try await withSessions(scene.database, 3) { sessions, reactor in
      let world = World(scene, count: count, seed: 22)
      for number in 0..<count { try await world.report("run\(number)", sessions[0], on: reactor) }
      for _ in 0..<40 {
        try await world.change(sessions[0], times: 250, on: reactor)
        for replica in 1...2 { _ = try await world.serve(sessions[replica], mayFail: true, on: reactor) }
        if world.draw(3) == 0 { world.arrive() }
        try await world.serveLate(sessions[2], sessions[0], on: reactor)
      }
      // Every process is well again; leases have run out, and each second has passed.
      var left = 1
      while left > 0 {
        try await scene.database.sql(
          "update tacet.inbox set available_at = now(); update tacet.deliveries set due_at = now()")
        left = try await world.serve(sessions[1], mayFail: false, on: reactor)
        world.arrive()
      }
      let states = try await scene.database.sql(
        "select id, (state ->> 'elapsedTime')::float::int, ended_at is not null from tacet.activities where version > 1"
      )
      var judged = 0
      for line in states.split(separator: "\n") {
        let parts = line.split(separator: "|")
        let screen = world.tokens[String(parts[0])].flatMap { world.screens[$0] }
        #expect(screen?.elapsed == Int(parts[1]) && screen?.hasEnded == (parts[2] == "t"), "\(line)")
        judged += 1
      }
      #expect(judged > count * 9 / 10 && world.ended.count > 50)
      for (id, begun) in world.begun {
        let moments = begun.values.sorted()
        #expect(zip(moments, moments.dropFirst()).allSatisfy { $1 - $0 >= 1_000_000 }, "\(id)")
      }
    }
  }
}

@Suite("What states of Live Activities may say")
struct LiveActivityDocumentTests {
  private static let declared =
    #"{"name": "string", "count": "int", "share": "number", "isOn": "bool", "at": "date", "note": "string?"}"#
  private static let whole: [String: String] = [
    "name": #""x""#, "count": "3", "share": "0.5", "isOn": "true", "at": #""2001-01-01T00:00:10Z""#,
  ]

  /// A good document with one member changed; nil leaves it out.
  private func checked(_ name: String, _ value: String?) async throws -> String {
    var members = Self.whole
    members[name] = value
    let text = "{" + members.map { #""\#($0.key)": \#($0.value)"# }.joined(separator: ", ") + "}"
    let database = try await TestDatabase.migrated()
    return try await database.sql(
      "select tacet.live_activity_document('state', '\(Self.declared)', '\(text)') -> '\(name)'")
  }

  @Test(
    "values as the app's decoder reads them",
    arguments: [
      ("name", #""""#, #""""#), ("count", "9223372036854775807", "9223372036854775807"), ("count", "3.0", "3"),
      ("count", "-9223372036854775808", "-9223372036854775808"), ("share", "1e3", "1000"), ("share", "1e-400", "0"),
      ("share", "12", "12"), ("isOn", "false", "false"), ("at", #""2001-01-01T00:00:10Z""#, "10"),
      ("at", #""2001-01-01T01:00:10.25+01:00""#, "10.25"), ("at", #""1969-12-31T23:59:59Z""#, "-978307201"),
      ("note", nil, "null"), ("note", "null", "null"), ("note", #""y""#, #""y""#),
    ] as [(String, String?, String)])
  func good(_ name: String, _ value: String?, _ expected: String) async throws {
    #expect(try await checked(name, value) == expected)
  }

  @Test(
    "what the device would drop in silence is refused",
    arguments: [
      ("name", nil), ("name", "null"), ("name", "1"), ("name", #""\#(String(repeating: "x", count: 1025))""#),
      ("count", "0.5"), ("count", #""3""#), ("count", "9223372036854775808"), ("share", "1e301"), ("share", "true"),
      ("isOn", "1"), ("isOn", #""true""#), ("at", "10"), ("at", #""2001-01-01""#), ("at", #""2001-02-30T00:00:00Z""#),
      ("at", #""2001-01-01T25:00:00Z""#), ("at", #""infinity""#), ("at", #""2001-01-01T00:00:10""#), ("other", "1"),
      ("note", "2"),
    ] as [(String, String?)])
  func bad(_ name: String, _ value: String?) async throws {
    await #expect(throws: (any Error).self) { try await checked(name, value) }
  }

  @Test(
    "an alert has a title, and nothing unknown",
    arguments: [
      (#"{"title": "x"}"#, true), (#"{"title": "x", "body": "y", "sound": "default"}"#, true),
      (#"{"body": "y"}"#, false),
      (#"{"title": ""}"#, false), (#"{"title": 1}"#, false), (#"{"title": "x", "badge": "1"}"#, false), (#"[]"#, false),
    ])
  func alerts(_ alert: String, _ isGood: Bool) async throws {
    let database = try await TestDatabase.migrated()
    let call = "select tacet.live_activity_alert('\(alert)')"
    if isGood {
      #expect(try await database.sql(call) != "")
    } else {
      await #expect(throws: (any Error).self) { try await database.sql(call) }
    }
  }

  @Test("attributes, state and alert fit one push")
  func size() async throws {
    let database = try await TestDatabase.migrated()
    let call = "select tacet.check_live_activity_size('{}', jsonb_build_object('a', repeat('x', %)), null)"
    try await database.sql(call.replacing("%", with: "3685"))
    await #expect(throws: (any Error).self) { try await database.sql(call.replacing("%", with: "3686")) }
  }
}

@Suite("Live Activities: states that are committed while others look")
struct LiveActivityRaceTests {
  /// A workout that has a token, and no push.
  private func scene() async throws -> LiveActivityScene {
    let scene = try await LiveActivityScene()
    try await scene.start()
    try await scene.send()
    try await scene.report("cc01")
    try await scene.passTime()
    return scene
  }

  /// A claim with the snapshot of before a commit. A repeatable read keeps it for as long as a test likes; where a claim would pass over
  /// a row that has moved, it fails.
  @Test(
    "a claim with an older snapshot does not take a push that has got a newer state since",
    arguments: [
      "select tacet.update_live_activity('run', '\(LiveActivityScene.state(2))')",
      "select tacet.end_live_activity('run', null, null, 'server')",
    ])
  func olderSnapshot(_ change: String) async throws {
    let scene = try await scene()
    try await scene.update(1)
    try await scene.passTime()
    try await withSessions(scene.database, 2) { sessions, reactor in
      try await sessions[0].run("begin isolation level repeatable read", on: reactor)
      _ = try await sessions[0].value("select count(*) from tacet.inbox", on: reactor)
      try await sessions[1].run(change, on: reactor)
      let error = await #expect(throws: PostgresError.self) { try await sessions[0].claim(on: reactor) }
      #expect(error?.sqlState == .serializationFailure)
      try await sessions[0].run("rollback", on: reactor)
    }
    #expect(try await scene.send() == [change.contains("end_live") ? "end 1 -> cc01" : "update 2 -> cc01"])
  }

  @Test("a transaction of the host that stays open keeps no record waiting")
  func openTransaction() async throws {
    let scene = try await scene()
    try await scene.update(1)
    try await scene.passTime()
    try await scene.hold(try await claim(scene.database), for: .zero)
    try await withSessions(scene.database, 2) { sessions, reactor in
      let (host, service) = (sessions[0], sessions[1])
      let events = try await service.claim(on: reactor)
      #expect(events.map(LiveActivityScene.words) == ["update 1 -> cc01"])
      try await host.run("begin", on: reactor)
      try await host.run("select tacet.update_live_activity('run', '\(LiveActivityScene.state(2))')", on: reactor)
      try await service.run("set lock_timeout = '1s'", on: reactor)
      try await service.record(events, on: reactor) {
        RecipientOutcome(userID: $0, decision: .sent, acceptedDevices: ["cc01"])
      }
      try await host.run("commit", on: reactor)
    }
    try await scene.passTime()
    #expect(try await scene.send() == ["update 2 -> cc01"])
  }

  @Test("a device of the host that another transaction keeps holds up no record of a dead token")
  func keptDevice() async throws {
    let scene = try await scene()
    try await withSessions(scene.database, 2) { sessions, reactor in
      try await sessions[0].run("begin", on: reactor)
      try await sessions[0].run("update public.push_tokens set platform = 'ios'", on: reactor)
      try await sessions[1].run("set lock_timeout = '1s'", on: reactor)
      let call = "select tacet.drop_dead_device('\(LiveActivityScene.device)', 'Unregistered', now())"
      try await sessions[1].run(call, on: reactor)
      try await sessions[0].run("rollback", on: reactor)
      let valid = "select count(*) from public.push_tokens where invalidated_at is null"
      #expect(try await sessions[1].value(valid, on: reactor) == "1")
      try await sessions[1].run(call, on: reactor)
      #expect(try await sessions[1].value(valid, on: reactor) == "0")
    }
  }
}
