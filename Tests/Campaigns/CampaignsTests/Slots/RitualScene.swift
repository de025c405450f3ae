import Foundation
import Logging
import PrometheusMetrics
import PushRules
import PushStore
import Reactors
import TestIDs
import TestPostgres
import TestRepository

@testable import Campaigns

/// A host with rituals: a database of its own with their tables, and users who get them.
struct RitualScene: Sendable {
  let server: TestPostgres
  let database: String

  init() async throws {
    server = try await TestPostgres.shared
    database = "ritual_" + UUID().uuidString.lowercased().filter { $0 != "-" }
    try await server.psql("create database \(database)")
    let tables = [Repository.hostTables, Repository.install, Repository.file("db/examples/ritual.sql")]
    for file in tables { try await server.psql("\\i '\(try IDTypes.tested(file).path)'", database: database) }
  }

  @discardableResult
  func sql(_ text: String) async throws -> String {
    try await server.psql(IDTypes.tested(text), database: database).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// A user with a device.
  /// - Parameters:
  ///   - terrain: nil before onboarding. streak: completed days that end yesterday.
  func addUser(
    terrain: String? = "cold_deficient", nickname: String = "Low Flame", streak: Int = 0,
    zone: String = ZoneNearNoon.name, devices: Int = 1
  ) async throws -> HostID {
    let id = HostID.new()
    try await addProfile(of: id, terrain: terrain, nickname: nickname)
    try await sql(
      """
      insert into push_tokens (user_id, device_token, time_zone)
      select '\(id)', encode(sha256(('\(id)' || n)::bytea), 'hex'), '\(zone)' from generate_series(1, \(devices)) as n;
      insert into daily_logs (user_id, day, micro_action_completed_at)
      select '\(id)', (now() at time zone '\(zone)')::date - n, now() - n * interval '1 day'
      from generate_series(1, \(streak)) as n;
      """)
    return id
  }

  private func addProfile(of id: HostID, terrain: String?, nickname: String = "") async throws {
    try await sql(
      """
      insert into profiles (id, name) values ('\(id)', 'Ada');
      insert into terrain_profiles (user_id, terrain_type, nickname)
      values ('\(id)', \(terrain.map { "'\($0)'" } ?? "null"), '\(nickname)');
      """)
  }

  /// Another campaign of slots for the same users.
  func addCampaign(_ name: String, _ definition: String) async throws {
    try await sql(
      """
      insert into tacet.campaigns (is_scheduled, needs_no_session, name, audience, material, push_types, definition)
      values (false, false, '\(name)', 'tacet.ritual_audience', 'tacet.ritual_material', '{\(name)}', '\(definition)')
      """)
  }

  /// The rows of a user, by day and slot: these columns.
  func rows(of user: HostID, _ columns: String = "slot, status, reason") async throws -> String {
    try await sql(
      """
      select \(columns) from tacet.notif_deliveries where user_id = '\(user)' order by fire_date, slot
      """)
  }

  /// Makes the next row of each slot due now, as a clock that has gone on would.
  func makeDue(_ condition: String = "true", late: String = "0 s") async throws {
    try await sql(
      """
      update tacet.notif_deliveries
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
    pace: SlotPace = SlotPace(), registry: PrometheusRegistry = PrometheusRegistry(),
    logger: Logger = Logger(label: "slots"),
    _ body: @escaping @Sendable (SlotRunner, SlotScheduler, PushDatabase, isolated Reactor) async throws -> Void
  ) async throws {
    try await withDatabase(named: database, on: server, logger: logger) { store, reactor in
      let runner = SlotRunner(store: store, pace: pace, logger: logger, queued: { _ in })
      let scheduler = SlotScheduler(store: store, pace: pace, metrics: CampaignMetrics(registry), logger: logger)
      try await body(runner, scheduler, store, reactor)
    }
  }
}

extension SlotRunner {
  /// Gives slots to new users, pushes what is due and renders what will be.
  func look(on reactor: isolated Reactor) async {
    await enrolAll(on: reactor)
    _ = await pushAll(on: reactor)
    _ = await renderAll(on: reactor)
  }
}
