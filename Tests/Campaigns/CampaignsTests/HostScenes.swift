import Foundation
import Logging
import Postgres
import PrometheusMetrics
import PushRules
import PushStore
import Reactors
import TestIDs
import TestLogs
import TestPostgres
import TestRepository
import Testing

@testable import Campaigns

/// A host's database of its own.
protocol HostScene: Sendable {
  var scratch: ScratchDatabase { get }
}

extension HostScene {
  var server: TestPostgres { scratch.server }
  var database: String { scratch.name }

  fileprivate static func created(_ examples: [String]) async throws -> ScratchDatabase {
    let scratch = try await TestPostgres.shared.makeMigratedDatabase()
    for example in examples {
      let file = Repository.file("db/examples/\(example).sql")
      try await scratch.server.psql("\\i '\(try IDTypes.tested(file).path)'", database: scratch.name)
    }
    return scratch
  }

  @discardableResult
  func sql(_ text: String) async throws -> String {
    try await server.psql(IDTypes.tested(text), database: database).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Runs a body with a store over a pool of its own.
  func withStore<Value: Sendable>(
    logger: Logger = RunLogs.logger,
    _ body: @escaping @Sendable (PushDatabase, isolated Reactor) async throws -> Value
  ) async throws -> Value {
    let conninfo = server.conninfo(database: database)
    return try await ReactorGroup.perform { reactor in
      var configuration = PostgresConfiguration(conninfo: conninfo)
      configuration.chosenTypes = IDTypes.tested.postgresTypes
      configuration.settings = PushDatabase.serviceSettings
      let pool = PostgresPool(configuration, size: 2, logger: logger)
      pool.start(on: reactor)
      let result: Result<Value, any Error>
      do {
        result = .success(try await body(PushDatabase(pool: pool), reactor))
      } catch {
        result = .failure(error)
      }
      await pool.close(on: reactor)
      return try result.get()
    }
  }
}

/// A host with a coach: a database of its own with the coach's tables, and users to be looked at.
struct CoachScene: HostScene {
  let scratch: ScratchDatabase
  let zone = ZoneNearNoon.name

  /// - Parameter more: examples that are applied after the coach's.
  init(with more: String...) async throws {
    scratch = try await Self.created(["coach"] + more)
  }

  /// A user who wants check-ins every day and has a device.
  func addUser(frequency: String = "daily", zone: String? = nil) async throws -> HostID {
    let id = HostID.new()
    try await sql(
      """
      insert into profiles (id, name) values ('\(id)', 'Ada');
      insert into push_tokens (user_id, device_token) values ('\(id)', encode(sha256('\(id)'), 'hex'));
      insert into context_profiles (user_id, time_zone, context_summary, notification_preferences)
      values ('\(id)', '\(zone ?? self.zone)', 'Works as an engineer.',
        '{"check_ins_enabled": true, "frequency": "\(frequency)"}');
      """)
    return id
  }

  /// A conversation of so many days ago, with messages of its owner.
  func addConversation(of user: HostID, daysAgo: Double, domain: String = "work", _ texts: [String]) async throws {
    let id = HostID.new()
    try await sql(
      """
      set session_replication_role = replica;
      insert into conversations (id, owner_id, domain, created_at)
      values ('\(id)', '\(user)', '\(domain)', now() - interval '\(daysAgo) days');
      insert into messages (conversation_id, from_id, text, created_at)
      select '\(id)', '\(user)', t.text, now() - interval '\(daysAgo) days' + t.place * interval '1 minute'
      from unnest(array[\(texts.map { "'\($0.split(separator: "'").joined(separator: "''"))'" }.joined(separator: ", "))]::text[])
        with ordinality as t (text, place);
      """)
  }

  /// What was decided about a user: decision, reason and layer.
  func decision(of user: HostID, campaign: String = "coach") async throws -> String {
    try await sql(
      """
      select case d.status when 'scheduled' then 'undecided' when 'sent' then 'committed' else d.status end
        || ' ' || coalesce(d.reason, '-') || ' ' || coalesce(d.layer, '-')
      from tacet.occasions d
      where d.user_id = '\(user)' and d.campaign = '\(campaign)'
      """)
  }

  /// Enrols the users of a campaign, or one, and looks at them.
  func run(
    _ campaign: String = "coach", _ writer: ScriptedWriter? = ScriptedWriter(), limits: ModelUsageLimits = .ample,
    onlyUser: HostID? = nil, meanwhile: @escaping @Sendable () async throws -> Void = {}
  ) async throws {
    try await withRunner(writer, limits: limits) { runner, store, reactor in
      _ = try await store.enrol(campaign, onlyUser: onlyUser, on: reactor)
      try await meanwhile()
      await runner.look(on: reactor)
    }
  }

  /// The zone an hour to the west of the scene's.
  func westernZone() async throws -> String {
    try await sql(
      """
      select name from pg_timezone_names z where name ~ '^Etc/GMT[+-]'
        and utc_offset = now() at time zone '\(zone)' - now() at time zone 'UTC' - interval '1 hour' limit 1
      """)
  }

  /// A pace by which the hour of the scene's zone has come, and of that an hour to the west of it.
  func paceOfNow() async throws -> CampaignPace {
    let minutes = try await sql("select (extract(epoch from (now() at time zone '\(zone)')::time) / 60)::int - 70")
    var pace = CampaignPace()
    pace.standardMinutes = try #require(Int(minutes))
    return pace
  }

  /// Runs a body with a store and a runner over it.
  func withRunner(
    _ writer: ScriptedWriter? = ScriptedWriter(), limits: ModelUsageLimits = .ample,
    pace: CampaignPace = CampaignPace(), sleep: DatabaseSleep? = nil,
    logger: Logger = RunLogs.logger,
    _ body: @escaping @Sendable (CampaignRunner, PushDatabase, isolated Reactor) async throws -> Void
  ) async throws {
    try await withStore(logger: logger) { store, reactor in
      let runner = CampaignRunner(
        store: store, writer: writer, limits: limits, pace: pace, sleep: sleep, logger: logger, queued: { _ in })
      try await body(runner, store, reactor)
    }
  }
}

extension ModelUsageLimits {
  static let ample = ModelUsageLimits(tokensMax: 1_000_000_000, costMicrodollarsMax: 1_000_000_000)
}

/// Writes what it was told to, and remembers what it was asked.
final class ScriptedWriter: CheckInWriter, @unchecked Sendable {
  // Unchecked: it is made by a test before its reactor uses it, and read when that has ended.
  private let reply: Result<String, LanguageModelError>
  private(set) var prompts: [ModelPrompt] = []
  private(set) var limits: [Duration?] = []
  var onCall: (@Sendable () async throws -> Void)?

  init(
    _ reply: Result<String, LanguageModelError> = .success(
      #"{"title":"Thinking of you","body":"How is it going?"}"#)
  ) {
    self.reply = reply
  }

  func usageMax(of prompt: ModelPrompt) -> CampaignUsage {
    CampaignUsage(inputTokens: 100, outputTokens: 20, costMicrodollars: 200)
  }

  func write(_ prompt: ModelPrompt, within limit: Duration?, on reactor: isolated Reactor) async -> LanguageModelReply {
    prompts.append(prompt)
    limits.append(limit)
    try? await onCall?()
    return LanguageModelReply(text: reply, usage: usageMax(of: prompt))
  }
}

/// A host with rituals: a database of its own with their tables, and users who get them.
struct RitualScene: HostScene {
  let scratch: ScratchDatabase

  init() async throws { scratch = try await Self.created(["ritual"]) }

  /// A user with a device.
  /// - Parameters:
  ///   - terrain: nil before onboarding. streak: completed days that end yesterday.
  func addUser(
    terrain: String? = "cold_deficient", nickname: String = "Low Flame", streak: Int = 0,
    zone: String = ZoneNearNoon.name, devices: Int = 1
  ) async throws -> HostID {
    let id = HostID.new()
    try await sql(
      """
      insert into profiles (id, name) values ('\(id)', 'Ada');
      insert into terrain_profiles (user_id, terrain_type, nickname)
      values ('\(id)', \(terrain.map { "'\($0)'" } ?? "null"), '\(nickname)');
      insert into push_tokens (user_id, device_token, time_zone)
      select '\(id)', encode(sha256(('\(id)' || n)::bytea), 'hex'), '\(zone)' from generate_series(1, \(devices)) as n;
      insert into daily_logs (user_id, day, micro_action_completed_at)
      select '\(id)', (now() at time zone '\(zone)')::date - n, now() - n * interval '1 day'
      from generate_series(1, \(streak)) as n;
      """)
    return id
  }

  /// Another campaign of slots for the same users.
  func addCampaign(_ name: String, _ definition: String) async throws {
    try await sql(
      """
      insert into tacet.campaigns (is_scheduled, needs_no_session, name, audience, material, push_types, definition)
      values (false, false, '\(name)', 'tacet.ritual_audience', 'tacet.ritual_material', '{\(name)}', '\(definition)')
      """)
  }

  /// The rows of a user, by slot and day: these columns.
  func rows(of user: HostID, _ columns: String = "slot, status, reason") async throws -> String {
    try await sql(
      """
      select \(columns) from tacet.occasions where user_id = '\(user)' order by slot, fire_date
      """)
  }

  /// Makes the next row of each slot due now, as a clock that has gone on would.
  func makeDue(_ condition: String = "true", late: String = "0 s") async throws {
    try await sql(
      """
      update tacet.occasions
      set fire_at = clock_timestamp() - interval '\(late)', available_at = clock_timestamp() - interval '\(late)'
      where status in ('scheduled', 'armed') and (\(condition))
      """)
  }

  /// Lets the next row of each slot be rendered now.
  func openLead() async throws {
    try await sql("update tacet.slots set available_at = clock_timestamp() where available_at is not null")
  }

  /// Runs a body with a store and a runner over it.
  func withRunner(
    pace: CampaignPace = CampaignPace(), registry: PrometheusRegistry = PrometheusRegistry(),
    logger: Logger = RunLogs.logger,
    _ body: @escaping @Sendable (CampaignRunner, SlotScheduler, PushDatabase, isolated Reactor) async throws -> Void
  ) async throws {
    try await withStore(logger: logger) { store, reactor in
      let runner = CampaignRunner(
        store: store, writer: nil, limits: .ample, pace: pace, logger: logger, queued: { _ in })
      let scheduler = SlotScheduler(store: store, pace: pace, metrics: CampaignMetrics(registry), logger: logger)
      try await body(runner, scheduler, store, reactor)
    }
  }
}

extension CampaignRunner {
  /// Gives slots to new users, pushes what is due and renders what will be.
  func lookAtSlots(on reactor: isolated Reactor) async {
    await followAudiences(on: reactor)
    _ = await decideAll(.slots, on: reactor)
    _ = await prepareAll(on: reactor)
  }

  /// Enrols the users whose hour has come, and decides what is said to all enrolled ones.
  func look(on reactor: isolated Reactor) async {
    _ = await enrolHours(on: reactor)
    let ended = Signal()
    reactor.start {
      _ = await self.decideAll(.written, on: reactor)
      ended.signal(on: reactor)
    }
    _ = await decideAll(.hours, on: reactor)
    _ = await ended.wait(on: reactor)
  }
}
