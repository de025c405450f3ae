import Foundation
import Simulators
import TestPostgres
import TestRandomness
import TestRepository
import Testing

/// `CRASH_SECONDS` and `CRASH_SEED` are as for the other crashes; `CRASH_USERS` says how many users there are.
@Suite("Slots on two replicas that are killed", .serialized)
struct SlotCrashTests {
  @Test("push each row once")
  func books() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["CRASH_SECONDS"].flatMap { Int($0) } ?? 15
    let seed = environment["CRASH_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))
    let run = try await SlotCrashRun(seed: seed, seconds: seconds)
    try await run.play()
    let rows = try await run.scene.sql(
      "select string_agg(n, ', ') from (select status || ' ' || count(*) as n from tacet.occasions group by status) x"
    )
    print(
      "slot crash run: seed \(seed), \(SlotCrashRun.users) users, \(run.kills) kills, \(run.waves) waves, rows: \(rows)"
    )
    let violations = try await run.violations()
    #expect(violations == [], "seed \(seed)")
    #expect(try await run.stop() == [0, 0])
    #expect(run.kills >= SlotCrashRun.killsMin)
    // A run that did nothing would balance as well.
    #expect(try await run.sent >= SlotCrashRun.sentMin)
  }
}

/// Two replicas that render and push slots of the same users while they are killed, and the books afterwards.
final class SlotCrashRun {
  static let killsMin = 6
  static let sentMin = 300
  static let users = ProcessInfo.processInfo.environment["CRASH_USERS"].flatMap { Int($0) } ?? 300
  private static let settlingLimit = Duration.seconds(120 + users / 50)

  let scene: ServiceScene
  private let replicas: [CampaignReplica]
  private let seed: UInt64
  private let seconds: Int
  private var generator: SeededGenerator
  private(set) var kills = 0
  /// Rows that were made due.
  private(set) var waves = 0

  init(seed: UInt64, seconds: Int) async throws {
    self.seed = seed
    self.seconds = seconds
    scene = try await ServiceScene(extra: ["PUSH_TRIGGER_ENABLED": "true", "LOG_LEVEL": "notice"])
    try await scene.sql("\\i '\(Repository.file("db/examples/ritual.sql").path)'")
    replicas = ["first", "second"].map { [scene] in CampaignReplica($0, scene.settings) }
    generator = SeededGenerator(seed: seed)
  }

  /// Plays it until every row that was due is ended and every push recorded.
  func play() async throws {
    try await enter()
    for replica in replicas { try await replica.start() }
    let end = ContinuousClock.now + .seconds(seconds)
    while kills < Self.killsMin || ContinuousClock.now < end {
      try await makeDue()
      try await disrupt()
    }
    try await settle()
    // On a busy machine less was rendered and sent between two kills.
    for _ in 0..<5 {
      guard try await sent < Self.sentMin else { break }
      try await makeDue()
      try await settle()
    }
  }

  /// Rows whose push was sent.
  var sent: Int {
    get async throws {
      Int(try await scene.sql("select count(*) from tacet.occasions where status = 'sent'")) ?? 0
    }
  }

  private func enter() async throws {
    try await scene.sql(
      """
      insert into profiles (id, name) select md5('r' || n)::uuid, 'Ada' from generate_series(1, \(Self.users)) as n;
      insert into terrain_profiles select md5('r' || n)::uuid, 'warm_excess', 'Ember' from generate_series(1, \(Self.users)) as n;
      insert into push_tokens (user_id, device_token, time_zone)
      select md5('r' || n)::uuid, encode(sha256(('r' || n)::bytea), 'hex'), '\(ZoneNearNoon.name)'
      from generate_series(1, \(Self.users)) as n
      """)
    for row in try await scene.rows("select device_token from push_tokens") { scene.register(row[0]) }
  }

  /// Lets the next rows be rendered, and those of one day that are rendered be due. Of two of a campaign that are due at
  /// once one is skipped, so it is one row a user.
  private func makeDue() async throws {
    waves += 1
    try await update(
      "slots", "available_at = clock_timestamp()", where: "available_at > clock_timestamp() + interval '2 min'")
    try await update(
      "occasions", "fire_at = clock_timestamp(), available_at = clock_timestamp()",
      where: """
        (user_id, fire_at) in (
          select user_id, min(fire_at) from tacet.occasions
          where status = 'scheduled' and fire_at > clock_timestamp() group by user_id)
        """)
  }

  /// Updates rows that no replica has locked: a test that waits for one could be what the replica waits for.
  private func update(_ table: String, _ change: String, where condition: String) async throws {
    try await scene.sql(
      """
      update tacet.\(table) set \(change)
      where ctid = any (array(select ctid from tacet.\(table) where \(condition) for update skip locked))
      """)
  }

  private func disrupt() async throws {
    try await Task.sleep(for: .milliseconds(Int.random(in: 50...700, using: &generator)))
    let isBoth = Int.random(in: 0..<4, using: &generator) == 0
    let victims = isBoth ? replicas : [replicas[Int.random(in: 0...1, using: &generator)]]
    for replica in victims { try await replica.kill() }
    kills += victims.count
    try await expireLeases()
    for replica in victims { try await replica.start() }
  }

  /// What was claimed is free now instead of in half a minute, also what the living have claimed: the number of the claim
  /// keeps what they write then from counting.
  private func expireLeases() async throws {
    let now = "clock_timestamp()"
    try await update(
      "slots", "available_at = \(now)", where: "available_at between \(now) and \(now) + interval '61 s'")
    try await update(
      "occasions", "available_at = \(now)",
      where: "status = 'scheduled' and attempts > 0 and available_at between \(now) and \(now) + interval '31 s'")
    try await update(
      "inbox", "available_at = \(now)", where: "available_at between \(now) and \(now) + interval '31 s'")
  }

  private func settle() async throws {
    let due = """
      select (select count(*) from tacet.occasions where status in ('scheduled', 'armed') and fire_at <= now())
        + (select count(*) from tacet.inbox) + (select count(*) from tacet.deliveries)
      """
    let deadline = ContinuousClock.now + Self.settlingLimit
    while true {
      let left = try await scene.sql(due)
      if left == "0" { return }
      try #require(ContinuousClock.now < deadline, "seed \(seed): \(left) are left")
      try await expireLeases()
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  /// What must not be, in words.
  func violations() async throws -> [String] {
    let doubled = try await scene.rows(
      """
      select 'pushes of ' || user_id || ' ' || collapse_id from tacet.pushes where campaign is not null
      group by user_id, collapse_id having count(*) > 1
      union all
      select 'phases of ' || user_id || ' ' || fire_date from tacet.occasions where status = 'sent'
      group by user_id, phase, fire_date having count(*) > 1
      union all
      select d.status || ' without a push that was sent: ' || d.user_id from tacet.occasions d
      where d.status = 'sent' and not exists (
        select from tacet.push_log l where l.subject_id = d.push_id and l.decision = 'sent')
      union all
      select 'a push without its row: ' || p.user_id from tacet.pushes p
      where p.campaign is not null and not exists (select from tacet.occasions d where d.push_id = p.id)
      union all
      select d.status || ' ' || coalesce(d.reason, '') || ': ' || d.user_id from tacet.occasions d
      where d.status not in ('sent', 'scheduled') and d.reason is distinct from 'too_late'
        and d.reason is distinct from 'attempts_exhausted'
      """
    ).map { $0[0] }
    let shown = Dictionary(grouping: scene.simulator.service.keptPushes.filter { $0.status == 200 }) {
      "\($0.token) \($0.collapseID ?? "")"
    }
    return doubled
      + shown.filter { Set($0.value.map(\.identifier)).count > 1 }.map { "several identifiers of \($0.key)" }
  }

  /// Ends everything; the replicas' exit codes.
  func stop() async throws -> [Int] {
    var codes: [Int] = []
    for replica in replicas { codes.append(try await replica.stop()) }
    await scene.simulator.stop()
    return codes
  }
}
