import Foundation
import Simulators
import Synchronization
import TestProcesses
import TestRandomness
import Testing

/// `CRASH_SECONDS` says how long processes are killed (25 unless it says otherwise), `CRASH_SEED` repeats the moments of a run, as for
/// the other crashes, and `CRASH_USERS` says how many users there are at first (150 unless it says otherwise).
@Suite("Two campaigns on two replicas that are killed", .serialized)
struct CampaignCrashTests {
  @Test("push each user once a day at the most, and forget nobody")
  func books() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["CRASH_SECONDS"].flatMap { Int($0) } ?? 25
    let seed = environment["CRASH_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))
    print("campaign crash run: seed \(seed), \(seconds) s")
    let run = try await CampaignCrashRun(seed: seed, seconds: seconds)
    let books = try await run.play()
    print("campaign crash run: seed \(seed); \(books.summary)")
    #expect(books.violations == [], "seed \(seed)")
    #expect(try await run.coach.scene.parked() == 0)
    #expect(try await run.stop() == [0, 0])
    // A run that did nothing would balance as well.
    #expect(run.kills >= CampaignCrashRun.killsMin)
    #expect(books.users.count >= 150)
  }
}

/// Two replicas that run two campaigns over the same people while they are killed, and the books afterwards.
final class CampaignCrashRun {
  /// Fewer would prove little.
  static let killsMin = 6
  /// Of each situation that may be pushed. A fifth of them are in each that may not.
  private static let eligible =
    ProcessInfo.processInfo.environment["CRASH_USERS"].flatMap { Int($0) }.map { $0 / 5 } ?? 30
  private static let settlingLimit = Duration.seconds(120 + eligible / 5)

  let coach: CoachScene
  private let replicas: [CampaignReplica]
  private let seed: UInt64
  private let seconds: Int
  private var generator: SeededGenerator
  private(set) var users: [CoachUser] = []
  private(set) var kills = 0
  private(set) var runs = 0

  init(seed: UInt64, seconds: Int) async throws {
    self.seed = seed
    self.seconds = seconds
    var generator = SeededGenerator(seed: seed)
    // How long the model takes goes by the first digit of the user's id, which stands in the prompt.
    let delays = (0..<8).map { _ in Int.random(in: 50...200, using: &generator) }
    let rules = zip("01234567", delays).map { digit, delay in
      ModelScript.Rule(match: "engineer \(digit)", steps: [.init(.reply(), delayMilliseconds: delay)])
    }
    let others = ModelScript.Rule(steps: [.init(.reply(), delayMilliseconds: 120)])
    coach = try await CoachScene(ModelScript(rules: rules + [others]), settings: ["LOG_LEVEL": "notice"])
    let settings = coach.scene.settings
    replicas = ["first", "second"].map { CampaignReplica($0, settings) }
    self.generator = generator
  }

  /// Plays it until everything is decided and recorded.
  func play() async throws -> CampaignCrashBooks {
    try await coach.addEvening()
    try await coach.scene.sql(ClaimOwners.creation)
    for replica in replicas { try await replica.start() }
    let end = ContinuousClock.now + .seconds(seconds)
    try await enter(eligible: Self.eligible, others: Self.eligible / 5)
    while kills < Self.killsMin || ContinuousClock.now < end {
      try await disrupt()
      if try await undecided() == 0 { try await enter(eligible: 10, others: 2) }
    }
    try await settle()
    return try await CampaignCrashBooks(self)
  }

  /// More people, and three overlapping runs.
  private func enter(eligible: Int, others: Int) async throws {
    let more = CoachUser.Situation.allCases.flatMap { situation in
      (0..<(situation.isEligible ? eligible : others)).map { _ in CoachUser(situation) }
    }
    users += more
    try await coach.add(more)
    // The same user at the same moment in both replicas, for two campaigns: only the lock of the cap is between them.
    for user in more.filter(\.situation.isEligible).shuffled(using: &generator).prefix(10) {
      try await trigger(["coach&user_id=\(user.id)", "evening&user_id=\(user.id)"])
    }
    try await trigger(["coach", "evening", "coach"])
  }

  /// Runs at the same time, by one replica and the other in turn.
  private func trigger(_ queries: [String]) async throws {
    let origins = [await replicas[0].origin, await replicas[1].origin]
    try await withThrowingTaskGroup { group in
      for (number, query) in queries.enumerated() {
        group.addTask {
          let path = "/v1/push-trigger?campaign=" + query
          let answer = try await HTTPAnswer.ask("POST", path, at: origins[number % 2], prefer: "respond-async")
          #expect([200, 202].contains(answer.status), "\(answer.text)")
        }
      }
      try await group.waitForAll()
    }
    runs += queries.count
  }

  /// Kills one replica, or both, at some moment, and starts it again.
  private func disrupt() async throws {
    try await Task.sleep(for: .milliseconds(Int.random(in: 150...1200, using: &generator)))
    let isBoth = Int.random(in: 0..<5, using: &generator) == 0
    let first = Int.random(in: 0...1, using: &generator)
    let victims = isBoth ? replicas : [replicas[first]]
    for replica in victims { try await replica.kill() }
    kills += victims.count
    try await expireLeases()
    try await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &generator)))
    for replica in victims { try await replica.start() }
    try await expireLeases()
  }

  /// What a killed process had claimed is free now instead of in a minute.
  private func expireLeases() async throws {
    var dead: [String] = []
    for replica in replicas { dead += await replica.dead }
    try await coach.scene.sql(ClaimOwners.expiry(of: dead))
  }

  private func undecided() async throws -> Int {
    Int(try await coach.scene.sql("select count(*) from tacet.occasions where status = 'scheduled'")) ?? -1
  }

  /// Waits until everything is decided, sent and recorded. There is nothing to wait on but the tables.
  private func settle() async throws {
    let deadline = ContinuousClock.now + Self.settlingLimit
    while true {
      try await expireLeases()
      let (undecided, unfinished) = (try await undecided(), try await coach.scene.unfinished())
      if undecided == 0, unfinished.isEmpty { return }
      try #require(ContinuousClock.now < deadline, "seed \(seed): \(undecided) undecided, \(unfinished)")
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  /// Ends everything; the replicas' exit codes.
  func stop() async throws -> [Int] {
    var codes: [Int] = []
    for replica in replicas { codes.append(try await replica.stop()) }
    await coach.stop()
    return codes
  }
}

/// The books of a run: who was to be pushed, what was decided, what was sent, what arrived; and whether they balance.
struct CampaignCrashBooks {
  /// A user's decision of one campaign.
  struct Decision {
    let campaign: String
    let user: String
    let decision: String
    let reason: String
  }

  let users: [CoachUser]
  let decisions: [Decision]
  /// Pushes that were queued, by user.
  let queued: [String: [String]]
  /// Pushes that the ledger calls sent, by user and the user's day; without those that were there before.
  let ledger: [String: [String]]
  /// Accepted pushes by device: their identifiers by what they collapse.
  let wire: [String: [String: [String]]]
  private let kills: Int
  private let runs: Int
  private let modelCalls: Int

  init(_ run: CampaignCrashRun) async throws {
    (users, kills, runs) = (run.users, run.kills, run.runs)
    let scene = run.coach.scene
    let rows = try await scene.rows(
      """
      select campaign, user_id, case status when 'scheduled' then 'none' when 'sent' then 'committed' else status end,
        coalesce(reason, '')
      from tacet.occasions
      """)
    decisions = rows.map { Decision(campaign: $0[0], user: $0[1], decision: $0[2], reason: $0[3]) }
    queued = Self.grouped(try await scene.rows("select user_id, id from tacet.pushes"))
    let zone = run.coach.zone
    ledger = Self.grouped(
      try await scene.rows(
        """
        select user_id || ' ' || (sent_at at time zone '\(zone)')::date, subject_id
        from tacet.push_log where decision = 'sent' and subject_id is not null
        """))
    var wire: [String: [String: [String]]] = [:]
    for record in scene.simulator.service.keptPushes where record.status == 200 {
      wire[record.token.lowercased(), default: [:]][record.collapseID ?? "none", default: []].append(record.identifier)
    }
    self.wire = wire
    modelCalls = run.coach.model.model.statistics.total
  }

  private static func grouped(_ rows: [[String]]) -> [String: [String]] {
    Dictionary(grouping: rows, by: { $0[0] }).mapValues { $0.map { $0[1] } }
  }

  private var pushed: Set<String> { Set(queued.keys) }
  private var committed: [Decision] { decisions.filter { $0.decision == "committed" } }

  /// Everything that must not be.
  var violations: [String] { doubled + undecided + strangers + unbalanced + forgotten }

  /// More than one push on a day, in any of the books.
  private var doubled: [String] {
    queued.filter { $0.value.count > 1 }.map { "\($0.value.count) pushes queued for \($0.key)" }
      + ledger.filter { $0.value.count > 1 }.map { "\($0.value.count) pushes in the ledger for \($0.key)" }
      + wire.filter { $0.value.count > 1 }.map { "\($0.value.count) pushes shown by \($0.key)" }
      + wire.flatMap { device, pushes in
        pushes.filter { Set($0.value).count > 1 }.map { "\(device) has \($0.key) under several identifiers" }
      }
  }

  /// Each eligible user has exactly one decision of each campaign; or none, when the other one had pushed before.
  private var undecided: [String] {
    let counts = Dictionary(grouping: decisions, by: { $0.campaign + $0.user }).mapValues(\.count)
    return decisions.filter { $0.decision == "none" }.map { "\($0.campaign) has not decided about \($0.user)" }
      + users.filter(\.situation.isEligible).flatMap { user in
        ["coach", "evening"].filter { campaign in
          let count = counts[campaign + user.id] ?? 0
          return count != 1 && !(count == 0 && pushed.contains(user.id))
        }.map { "\($0) has decided \(counts[$0 + user.id] ?? 0) times about \(user.situation) \(user.id)" }
      }
  }

  /// Whoever may not be pushed, and was.
  private var strangers: [String] {
    let eligible = users.filter(\.situation.isEligible)
    let devices = Set(eligible.flatMap(\.devices))
    return users.filter { !$0.situation.isEligible && pushed.contains($0.id) }.map { "pushed \($0.situation) \($0.id)" }
      + wire.keys.filter { !devices.contains($0) }.map { "\($0) is no eligible user's" }
  }

  /// What was committed, queued, recorded as sent and accepted are the same pushes.
  private var unbalanced: [String] {
    let pushes = Set(queued.values.joined())
    let books = [
      ("ledger", Set(ledger.values.joined())), ("wire", Set(wire.values.flatMap(\.keys))),
    ]
    return books.filter { $0.1 != pushes }.map {
      "\($0.0): \(pushes.subtracting($0.1).count) missing, \($0.1.subtracting(pushes).count) not queued"
    } + (committed.count == pushes.count ? [] : ["\(committed.count) committed, \(pushes.count) queued"])
  }

  /// Everybody eligible is pushed once, by one of the campaigns: the second always has something to say. Unless their
  /// processes died under them five times.
  private var forgotten: [String] {
    let exhausted = Set(decisions.filter { $0.reason == "attempts_exhausted" }.map(\.user))
    return users.filter { $0.situation.isEligible && !pushed.contains($0.id) && !exhausted.contains($0.id) }
      .map { "\($0.situation) \($0.id) was not pushed" }
  }

  /// The run in one line.
  var summary: String {
    let eligible = users.count { $0.situation.isEligible }
    let reasons = Dictionary(grouping: decisions.filter { !$0.reason.isEmpty }, by: { "\($0.campaign) \($0.reason)" })
      .sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.count)" }.joined(separator: ", ")
    let by = ["coach", "evening"].map { name in "\(name) \(committed.count { $0.campaign == name })" }
    let accepted = wire.values.flatMap(\.values).reduce(0) { $0 + $1.count }
    let distinct = wire.values.reduce(0) { $0 + $1.count }
    return [
      "\(users.count) users (\(eligible) eligible)", "\(kills) kills", "\(runs) runs",
      "\(committed.count) committed (\(by.joined(separator: ", ")))", "not sent: \(reasons)",
      "\(modelCalls) model calls", "\(distinct) pushes accepted", "wire duplicates \(accepted - distinct)",
    ].joined(separator: "; ")
  }
}

extension ServiceScene {
  /// A query's rows and their columns.
  func rows(_ text: String) async throws -> [[String]] {
    try await sql(text).split(separator: "\n").map {
      $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    }
  }
}

/// One of several services on a database whose processes tell the database their names, so that it is known whose leases a
/// killed one has left.
actor CampaignReplica {
  private let name: String
  private let settings: [String: String]
  private var generation = 0
  private var process: ServiceProcess?
  /// Where it answers.
  private(set) var origin = ""
  /// The names of those that were killed.
  private(set) var dead: [String] = []
  private var past: [String] = []

  init(_ name: String, _ settings: [String: String]) {
    self.name = name
    self.settings = settings
  }

  private var processName: String { "\(name)_\(generation)" }

  /// Returns when it serves.
  func start() async throws {
    generation += 1
    var settings = settings
    settings["DATABASE_URL", default: ""] += " application_name=\(processName)"
    let process = try ServiceProcess(["serve"], settings: settings)
    self.process = process
    let line = try await process.line(containing: "serving")
    origin = "http://" + (try #require(line.firstMatch(of: /address=(\S+)/)?.1))
  }

  func kill() async throws {
    guard let process else { return }
    self.process = nil
    try await process.signal(SIGKILL)
    _ = try await process.exitCode()
    dead.append(processName)
    past.append(process.text)
  }

  /// Asks it to end; its exit code.
  func stop() async throws -> Int {
    guard let process else { return 0 }
    try await process.signal(SIGTERM)
    return try await process.exitCode()
  }

  /// Everything its processes have printed.
  var text: String { (past + [process?.text ?? ""]).joined(separator: "\n") }
}

/// Which process has claimed what, noted by triggers that only this test has; and leases that run out before their time.
///
/// A killed process's users are free after a minute, its events after half of one (`CampaignPace.lease` and the claims of the
/// inbox, which no setting changes). Nobody can wait for that here, so the test plays the expiry, and only of those who are
/// dead: what the living have claimed stays theirs.
enum ClaimOwners {
  static let creation = """
    create table claim_owners (key text primary key, owner text not null);
    create function note_claim_owner() returns trigger language plpgsql as $$
    begin
      if new.attempts > old.attempts then
        insert into public.claim_owners (key, owner)
        values (
          case tg_table_name
            when 'inbox' then to_jsonb(new) ->> 'subject_id'
            else (to_jsonb(new) ->> 'campaign') || (to_jsonb(new) ->> 'user_id')
          end,
          current_setting('application_name'))
        on conflict (key) do update set owner = excluded.owner;
      end if;
      return null;
    end
    $$;
    create trigger note_claim_owner after update on tacet.occasions
      for each row execute function note_claim_owner();
    create trigger note_claim_owner after update on tacet.inbox for each row execute function note_claim_owner();
    """

  static func expiry(of names: [String]) -> String {
    let dead = "array[" + names.map { "'\($0)'" }.joined(separator: ", ") + "]::text[]"
    return """
      update tacet.occasions d set available_at = now()
      from claim_owners o
      where o.key = d.campaign || d.user_id and o.owner = any (\(dead)) and d.status = 'scheduled' and d.available_at > now();
      update tacet.inbox i set available_at = now()
      from claim_owners o
      where o.key = i.subject_id::text and o.owner = any (\(dead)) and i.available_at > now()
      """
  }
}
