import Foundation
import Postgres
import TestIDs
import TestRepository
import Testing

@testable import PushStore

@Suite("The ledger in schema tacet, and the view in its place", .uuidsOnly)
struct LedgerViewTests {
  /// What a host may have on the ledger of an earlier version. Its service has the rights that the pages gave it.
  private static func extras(_ dashboard: String, _ service: String) -> String {
    """
    grant select on push_log to \(dashboard);
    grant update (opened) on push_log to \(dashboard) with grant option;
    create policy seen on push_log for select to \(dashboard) using (push_type = 'message');
    create index mine_idx on push_log (claimed_at);
    create view mine as select user_id, decision from push_log;
    grant usage on schema public, tacet to \(service);
    grant select, insert, update, delete on all tables in schema public, tacet to \(service);
    grant execute on all functions in schema tacet to \(service);
    create policy service on push_log to \(service) using (true) with check (true);
    insert into push_log (user_id, push_type, decision) values
      (gen_random_uuid(), 'message', 'sent'), (gen_random_uuid(), 'news', 'sent');
    """
  }

  @Test(
    "an upgrade keeps rows, indexes, policies, privileges and what uses the table", arguments: [19, 26], [true, false])
  func moved(_ version: Int, _ isByHand: Bool) async throws {
    let database = try await TestDatabase.version(version)
    let (dashboard, service) = (try await makeRole(in: database), try await makeRole(in: database))
    try await database.sql(Self.extras(dashboard, service))
    let rows = """
      select count(*), count(*) filter (where push_type = 'message'), md5(string_agg(id::text, '' order by id))
      """
    let before = try await database.sql("\(rows) from push_log")
    if isByHand { try await database.apply(Repository.install) } else { try await database.migrate() }
    #expect(try await database.sql("\(rows) from tacet.push_log") == before)
    #expect(try await database.sql("\(rows) from push_log") == before)
    let counts = before.split(separator: "|")
    #expect(try await database.sql("set role \(service); select count(*) from push_log") == counts[0])
    #expect(try await database.sql("set role \(dashboard); select count(*) from push_log") == counts[1])
    #expect(try await database.sql("select count(*) from mine") == counts[0])
    #expect(try await database.sql("select to_regclass('tacet.mine_idx') is not null") == "t")
    let privileges = """
      select has_table_privilege(r, l, 'select'), has_table_privilege(r, l, 'update'),
        has_column_privilege(r, l, 'opened', 'update with grant option'), has_any_column_privilege(r, l, 'insert')
      from (values ('\(dashboard)')) as d (r), unnest(array['push_log', 'tacet.push_log']) as t (l)
      """
    #expect(try await database.sql(privileges) == "t|f|t|f\nt|f|t|f")
    #expect(try await database.sql("select oldest_service from tacet.migrations where version = 34") == "33")
  }

  @Test("statements of an older service run through the view with its rights; the ledger's pruning needs a newer one")
  func olderStatements() async throws {
    let database = try await TestDatabase.version(26)
    let service = try await makeRole(in: database)
    try await database.sql(Self.extras(try await makeRole(in: database), service))
    try await database.migrate()
    var older = database
    older.role = service
    try await withSessions(older, 1) { sessions, reactor in
      for statement in PushStatements.all where statement.sql.contains("tacet.push_log") {
        let types = statement.typeNames
        let nulls = statement.parameterTypes.map { _ in "null" }.joined(separator: ", ")
        let parameters = types.isEmpty ? ("", "") : (" (\(types))", " (\(nulls))")
        let sql = statement.sql.replacing("tacet.push_log", with: "public.push_log")
        let run = "deallocate all; prepare s\(parameters.0) as \(sql); explain execute s\(parameters.1)"
        if statement.name == "prune_ledger" {
          let error = await #expect(throws: PostgresError.self) { try await sessions[0].run(run, on: reactor) }
          #expect(error?.sqlState == "42703")
        } else {
          try await sessions[0].run(run, on: reactor)
        }
      }
    }
  }

  /// As a running service has them prepared.
  private static let record = PostgresStatement(
    "older_record",
    """
    insert into public.push_log as l (subject_id, user_id, push_type, decision)
    select '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002', 'message', 'held'
    on conflict (subject_id, user_id, push_type) do update set attempts = l.attempts + excluded.attempts
    where l.decision = 'held'
    returning l.decision || l.attempts
    """)
  private static let look = PostgresStatement(
    "older_look", "select decision || attempts from public.push_log l where l.history = '[]' for update")

  @Test("a session that has prepared its statements before the move goes on writing and reading")
  func runningService() async throws {
    let database = try await TestDatabase.version(26)
    try await database.sql("delete from push_log")
    try await withSessions(database, 1) { sessions, reactor in
      for attempts in 1...3 {
        for statement in [Self.record, Self.look] {
          let row = try await sessions[0].connection.query(statement, on: reactor).one()
          #expect(try row.decode(0) == "held\(attempts)")
        }
        if attempts == 1 { try await database.migrate() }
      }
    }
  }

  @Test("a relation of the host with this name stays as it is, also when Tacet leaves")
  func hostsOwn() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql(
      """
      create table push_log (user_id uuid); insert into push_log values (gen_random_uuid());
      create table profiles (id uuid primary key)
      """)
    let notices = try await database.apply(Repository.install)
    #expect(notices.contains("there is no view public.push_log, because public.push_log is the host's"))
    let erased = "select count(*) from tacet.user_columns where relation = 'push_log'::regclass"
    #expect(try await database.sql(erased) == "0")
    #expect(try await database.sql("select oldest_service from tacet.migrations where version = 34") == "34")
    try await database.apply(Repository.install)
    try await database.apply(Repository.file("db/uninstall.sql"))
    #expect(try await database.sql("select count(*), to_regnamespace('tacet') from push_log") == "1|")
  }
}
