import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestReactors
import Testing

@testable import PushStore

@Suite("What operators look at")
struct OverviewTests {
  @Test("a quiet database has an empty overview")
  func quietDatabase() async throws {
    let overview = try await Self.overview(of: try await TestDatabase.migrated())
    #expect(overview.ledger == LedgerFigures())
    #expect(overview.queues.events == 0 && overview.queues.oldestEventAge == nil && overview.queues.nextHold == nil)
    #expect(overview.lanes == [] && overview.parked == [] && overview.newest == [])
  }

  @Test("the last hour is counted by decision and reason, in sixty slices, and what is older is not")
  func hour() async throws {
    let database = try await TestDatabase.migrated()
    // Rows of ten minutes ahead count as new for eleven, and none of the others is near an edge: time passes meanwhile.
    try await database.sql(
      """
      insert into tacet.push_log (subject_id, user_id, push_type, decision, reason, enqueued_at, sent_at, attempts)
      select gen_random_uuid(), gen_random_uuid(), 'message', d, r, now() - a * interval '1 s',
        case when d = 'sent' then now() - a * interval '1 s' + w * interval '1 ms' end, c
      from (values
        ('sent', null, -600, 10, 1), ('sent', null, -600, 20, 1), ('sent', null, 1800, 30, 1),
        ('sent', null, 1800, 40000, 2), ('skipped', 'muted', 3000, 0, 1), ('held', 'user_viewing', -600, 0, 1),
        ('failed', 'parked', 3700, 0, 1)
      ) as v (d, r, a, w, c)
      """)
    let ledger = try await Self.overview(of: database).ledger
    #expect(ledger.span == .seconds(3600))
    #expect(ledger.counts.sent == 4 && ledger.counts.held == 1)
    #expect(ledger.counts.skipped == 1 && ledger.counts.failed == 0)
    #expect(ledger.sentLastMinute == 2)
    #expect(
      ledger.latencyLastMinute == LedgerFigures.Latency(median: .milliseconds(10), percentile99: .milliseconds(20)))
    // A hold is no delay: what was sent at the second claim does not count.
    #expect(ledger.latency == LedgerFigures.Latency(median: .milliseconds(20), percentile99: .milliseconds(30)))
    let totals = ledger.slices.map(\.total)
    #expect(totals.last == 3 && totals[20..<40].reduce(0, +) == 2 && totals.reduce(0, +) == 6)
    #expect(ledger.slices.prefix(20).map(\.skipped).reduce(0, +) == 1)
    #expect(
      ledger.shares == [
        LedgerFigures.Share(decision: .sent, reason: nil, count: 4),
        LedgerFigures.Share(decision: .skipped, reason: "muted", count: 1),
        LedgerFigures.Share(decision: .held, reason: "user_viewing", count: 1),
      ])
  }

  @Test(
    "a moment that no clock tells fails no look at the tables", .uuidsOnly,
    arguments: ["infinity", "-infinity", "294276-12-31 23:59:59+00", "4713-01-01 00:00:00+00 BC"])
  func oddMoments(_ moment: String) async throws {
    let chat = try await Chat()
    let message = HostID.new()
    try await chat.database.sql(
      """
      insert into tacet.push_log (subject_id, user_id, push_type, decision, attempts, history)
      values ('\(message)', '\(chat.reader)', 'message', 'sent', 1, '[{"claim": 1e300}]'),
        ('\(message)', '\(chat.sender)', 'message', 'sent', 1, '{}');
      insert into tacet.inbox (subject_id, kind) values ('\(message)', 'message');
      insert into tacet.deliveries (subject_id, user_id, kind, state, due_at, enqueued_at, attempts)
      values ('\(message)', '\(chat.reader)', 'message', 'held', now(), now(), 1);
      insert into tacet.parked (enqueued_at, subject_id, user_id, kind, attempts, reason)
      values (now(), '\(message)', '\(chat.reader)', 'message', 1, 'x');
      insert into tacet.instances (id, host, pid, version) values ('i', 'host', 1, '1.0');
      insert into tacet.trigger_failures (sqlstate, message) values ('XX000', 'x');
      do $$
      declare place record;
      begin
        for place in
          select a.attrelid::regclass as relation, a.attname as name from pg_attribute a
          where a.attrelid = any ('{tacet.push_log,tacet.inbox,tacet.deliveries,tacet.parked,tacet.instances,tacet.trigger_failures}'::regclass[])
            and a.atttypid = 'timestamptz'::regtype and a.attname <> 'stopped_at' and not a.attisdropped
        loop
          execute format('update %s set %I = %L', place.relation, place.name, '\(moment)');
        end loop;
      end $$
      """)
    _ = try await Self.overview(of: chat.database)
    for statement in PushStatements.all
    where statement.parameterTypes.isEmpty
      && ["examine_", "next_due", "overview_", "running_instances"].contains(where: statement.name.hasPrefix)
      && statement.name != "examine_webhook_queue"
    {
      await #expect(throws: Never.self, "\(statement.name)") { try await chat.database.sql(statement.sql) }
    }
    try await withStore(chat.database) { store, reactor in
      _ = try await store.queueFigures(within: patience, on: reactor)
      let records = try await store.records(ofSubject: message, on: reactor)
      #expect(records.first?.recipients.compactMap(\.ledger).count == 2)
    }
  }

  @Test("of a busy hour the newest rows are told, and how far back they reach")
  func busy() async throws {
    let database = try await Self.large.value
    let ledger = try await Self.overview(of: database).ledger
    #expect(ledger.counts.total == 20_000)
    // A hundred rows are of each second.
    #expect((.seconds(190)...(.seconds(1200))).contains(ledger.span), "\(ledger.span)")
    #expect(ledger.slices.map(\.total).reduce(0, +) == 20_000)
    // The newest are as old as it took to write them, and other tests to look at them.
    #expect(ledger.slices.prefix(10).allSatisfy { $0.total > 0 })
  }

  @Test("instances are told while they say that they live, and not that they stop")
  func instances() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into tacet.instances (id, host, pid, version, seen_at, stopped_at)
      select 'i' || p, 'host', p, '1.0', now() - age, now() - stopped
      from (
        values (1, interval '-300 s', null), (2, interval '-500 s', null), (3, interval '61 s', null),
          (4, interval '-300 s', interval '1 s')
      ) as r (p, age, stopped)
      """)
    #expect(try await Self.overview(of: database).instances.map(\.processID) == [2, 1])
  }

  @Test("what waits is counted by what it waits for")
  func queues() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into tacet.inbox (subject_id, kind, enqueued_at, available_at, is_claimed)
      values (gen_random_uuid(), 'message', now() - interval '9 s', now(), false),
        (gen_random_uuid(), 'message', now() - interval '30 min', now() + interval '20 s', true);
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state, since, lane)
      select now() + d * interval '1 s', now() - interval '70 s', gen_random_uuid(), gen_random_uuid(), 'message', s, now(), l
      from (values (2400, 'held', null), (3000, 'held', null), (-3, 'retryable', null), (0, 'waiting', 'b/sandbox'),
        (0, 'waiting', 'a/production'), (0, 'waiting', 'a/production')) as v (d, s, l);
      insert into tacet.push_log (subject_id, user_id, push_type, decision, reason)
      select subject_id, user_id, kind, 'held', 'InvalidProviderToken' from tacet.deliveries where lane = 'b/sandbox';
      insert into tacet.parked (enqueued_at, attempts, subject_id, kind, reason)
      values (now(), 5, gen_random_uuid(), 'message', 'refused')
      """)
    let overview = try await Self.overview(of: database)
    let queues = overview.queues
    #expect(queues.events == 2 && queues.held == 2 && queues.retryable == 1 && queues.parked == 1)
    #expect((.seconds(1800)...(.seconds(3600))).contains(try #require(queues.oldestEventAge)))
    #expect((.seconds(600)...(.seconds(2400))).contains(try #require(queues.nextHold)))
    #expect(try #require(queues.nextRetry) < .seconds(-2))
    #expect(overview.lanes.map(\.name) == ["a/production", "b/sandbox"])
    #expect(overview.lanes.map(\.waiting) == [2, 1])
    #expect(overview.lanes.map(\.reason) == [nil, "InvalidProviderToken"])
    #expect(overview.lanes.allSatisfy { $0.oldestAge >= .seconds(70) })
    #expect(overview.parked.map(\.reason) == ["refused"])
  }

  @Test(
    "no statement reads a large table from end to end", .uuidsOnly,
    arguments: ["force_custom_plan", "force_generic_plan"])
  func plans(_ mode: String) async throws {
    let database = try await Self.large.value
    let id = "'\(HostID.new())'"
    for (statement, arguments, index) in [
      (PushStatements.overviewLedger, "", "push_log_enqueued_idx"),
      (PushStatements.newestPushes, "25", "push_log_enqueued_idx"),
      (PushStatements.pushesOfUser, "\(id), null, null, 51", "push_log_user_enqueued_idx"),
      (
        PushStatements.pushesOfUser, "\(id), (extract(epoch from now()) * 1000000)::bigint, gen_random_uuid(), 51",
        "push_log_user_enqueued_idx"
      ),
      (PushStatements.pushesOfSubject, "\(id), \(id), 'message', 51", "push_log_subject_idx"),
      (PushStatements.meaningOfID, "\(id), \(id)", "push_log_subject_idx"),
      (PushStatements.overviewLanes, "", "deliveries_waiting_idx"),
      (PushStatements.overviewParked, "", "parked_parked_idx"),
      (PushStatements.runningInstances, "", "instances_seen_idx"),
      (PushStatements.deviceTokenOwners, "'c0ffee17', 20", "push_tokens_spelling_idx"),
    ] {
      let plan = try await database.explain(statement, arguments, mode)
      // There are sixteen shards.
      #expect(!plan.replacing("Seq Scan on shards", with: "").contains("Seq Scan"), "\(statement.name): \(plan)")
      #expect(plan.contains(index), "\(statement.name): \(plan)")
      // Rows come in the order of the index: sorting them would need all of them first.
      let sorts = plan.split(separator: "\n").filter { $0.contains("->  Sort") || $0.hasPrefix(" Sort") }
      #expect(statement.name == PushStatements.overviewLedger.name || sorts.isEmpty, "\(statement.name): \(plan)")
    }
  }

  private static func overview(of database: TestDatabase) async throws -> ServiceOverview {
    try await onReactor { reactor in
      let pool = PostgresPool(database.configuration, size: 1, acquireLimit: patience, logger: quiet)
      pool.start(on: reactor)
      let overview = try await PushDatabase(pool: pool).overview(newest: 10, on: reactor)
      await pool.close(on: reactor)
      return overview
    }
  }

  /// 100,000 rows in the ledger, of a thousand users, a hundred each second.
  private static let large = Task {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      with users as (select array_agg(gen_random_uuid()) as ids from generate_series(1, 1000))
      insert into tacet.push_log (subject_id, user_id, push_type, decision, enqueued_at, sent_at)
      select gen_random_uuid(), ids[1 + n % 1000], 'message', 'sent', now() - n * interval '10 ms',
        now() - n * interval '10 ms' + interval '5 ms'
      from users, generate_series(1, 100000) n
      """)
    try await database.sql("analyze")
    return database
  }
}

@Suite("What waits in the database")
struct QueueFiguresTests {
  private func figures(of database: TestDatabase) async throws -> QueueFigures {
    try await withStore(database) { store, reactor in
      try await store.queueFigures(within: patience, on: reactor)
    }
  }

  private func add(_ count: Int, _ state: String, lane: String? = nil, to database: TestDatabase) async throws {
    try await database.sql(
      """
      insert into tacet.deliveries (subject_id, user_id, kind, due_at, enqueued_at, state, lane)
      select gen_random_uuid(), gen_random_uuid(), 'message', now() + interval '1 day', now(), '\(state)',
        \(lane.map { "'\($0)'" } ?? "null")
      from generate_series(1, \(count))
      """)
  }

  @Test("the oldest transaction that keeps dead rows is told, and who has it")
  func snapshot() async throws {
    let database = try await TestDatabase.migrated()
    try await withTwoSessions(database) { host, _, reactor in
      try await host.run(
        "set application_name = 'reports'; begin isolation level repeatable read; select count(*) from public.messages",
        on: reactor)
      let figures = try await withStore(database) { try await $0.queueFigures(within: patience, on: $1) }
      #expect(try #require(figures.snapshotAge) < patience)
      // Of the sessions but the one that asks. One of the store that was still beginning when its pool closed may be at its first
      // statement, and a transaction sees the sessions of its first look until it asks anew.
      let deadline = ContinuousClock.now + patience
      var names: [String]
      repeat {
        try await host.run("select pg_stat_clear_snapshot()", on: reactor)
        names = try await host.connection.query(PushStatements.examineSnapshots, on: reactor)
          .map { try $0.decode("name", as: String.self) }
      } while !names.isEmpty && ContinuousClock.now < deadline
      #expect(names == [])
      let other = try await Session.open(database, on: reactor)
      defer { other.connection.close(on: reactor) }
      let row = try await other.connection.query(PushStatements.examineSnapshots, on: reactor).one()
      #expect(try row.decode("name", as: String.self) == "reports")
      #expect(try row.decode("process_id", as: Int64.self) == Int64(host.processID))
    }
  }

  @Test("nothing waits in a database that nobody uses, and nothing is the oldest")
  func empty() async throws {
    #expect(try await figures(of: try await TestDatabase.migrated()) == QueueFigures())
  }

  @Test("events are counted by their state, and the oldest of either is known by its age")
  func inbox() async throws {
    let chat = try await Chat()
    for _ in 0..<3 { try await chat.send() }
    #expect(try await claim(chat.database, eventsMax: 1).count == 1)
    try await chat.database.sql("update tacet.inbox set enqueued_at = now() - interval '90 s' where is_claimed")
    let figures = try await figures(of: chat.database)
    #expect(figures.freshEvents == 2)
    #expect(figures.claimedEvents == 1)
    let age = try #require(figures.oldestEventAge)
    #expect(age >= .seconds(90) && age < .seconds(90) + patience)
  }

  @Test("deliveries are counted by their state, those that wait by their lane")
  func deliveries() async throws {
    let database = try await TestDatabase.migrated()
    try await add(3, "held", to: database)
    try await add(2, "retryable", to: database)
    try await add(4, "waiting", lane: "a/production", to: database)
    try await add(1, "waiting", lane: "a/sandbox", to: database)
    let figures = try await figures(of: database)
    #expect(figures.held == 3 && figures.retryable == 2)
    #expect(figures.waiting == ["a/production": 4, "a/sandbox": 1])
  }

  @Test("lanes beyond the bound are together, and those with the most are not among them")
  func lanes() async throws {
    let database = try await TestDatabase.migrated()
    try await add(2, "waiting", lane: "most", to: database)
    for number in 0..<QueueFigures.lanesMax { try await add(1, "waiting", lane: "l\(number)", to: database) }
    let waiting = try await figures(of: database).waiting
    #expect(waiting.count == QueueFigures.lanesMax + 1)
    #expect(waiting["most"] == 2)
    #expect(waiting["other"] == 1)
    #expect(waiting.values.reduce(0, +) == QueueFigures.lanesMax + 2)
  }

  @Test("parked work and swallowed errors are counted")
  func setAside() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into tacet.parked (enqueued_at, attempts, subject_id, kind, reason)
      select now(), 6, gen_random_uuid(), 'message', 'claimed too often without a record' from generate_series(1, 2);
      select tacet.count_trigger_failure('57014', 'canceled')
      """)
    let figures = try await figures(of: database)
    #expect(figures.parked == 2)
    #expect(figures.triggerFailures == 1)
  }

  @Test(
    "counts stop at the bound, and every table is read through an index",
    arguments: ["force_custom_plan", "force_generic_plan"])
  func bounded(_ mode: String) async throws {
    let database = try await TestDatabase.migrated()
    try await add(30, "held", to: database)
    let plan = try await database.explain(PushStatements.queueFigures, "20, 4", mode)
    #expect(!plan.contains("Seq Scan"), "\(plan)")
    let sql = PushStatements.queueFigures.sql.replacing("$1", with: "20").replacing("$2", with: "4")
    #expect(try await database.sql("select f.held from (\(sql)) f") == "20")
  }
}

@Suite("An operator's look")
struct PushDatabaseLooksTests {
  private static let sleep = PostgresStatement("sleep", "select pg_sleep(30)::text")

  private func withOperators<Value: Sendable>(
    limit: Duration = PushDatabase.lookLimit,
    _ body: @escaping @Sendable (PushDatabase, isolated Reactor) async throws -> Value
  ) async throws -> Value {
    let database = try await TestDatabase.migrated()
    return try await onReactor { reactor in
      let pool = PushDatabase.operatorPool(database.configuration, limit: limit, logger: quiet)
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

  @Test(
    "it only reads, each statement for two seconds at the most, a count of all users for twenty",
    arguments: [(PushDatabase.lookLimit, "2s"), (PushDatabase.countLimit, "20s")])
  func settings(_ limit: Duration, _ shown: String) async throws {
    let settings = try await withOperators(limit: limit) { operators, reactor in
      try await operators.look(on: reactor) { look in
        let statement = PostgresStatement(
          "settings", "select current_setting('statement_timeout'), current_setting('transaction_read_only')")
        let row = try await look.query(StatementCall(statement, []), on: reactor).one()
        return [try row.decode(0, as: String.self), try row.decode(1)]
      }
    }
    #expect(settings == [shown, "on"])
  }

  @Test("looks take turns, and who waits longer than one may take is refused")
  func turns() async throws {
    let codes = try await withOperators { operators, reactor in
      let looks = (0..<2).map { _ in
        Begun.begin(on: reactor) { () -> PostgresError.Code? in
          do {
            _ = try await operators.look(on: reactor) { try await $0.query(StatementCall(Self.sleep, []), on: reactor) }
            return nil
          } catch let error as PostgresError {
            return error.code
          }
        }
      }
      return [try await looks[0].value(on: reactor), try await looks[1].value(on: reactor)]
    }
    // The server and the client end the first at about the same time.
    #expect(codes[0] == .timedOut || codes[0] == .server)
    #expect(codes[1] == .notConnected || codes[1] == .timedOut)
  }
}
