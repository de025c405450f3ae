import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestPostgres
import TestReactors
import TestRepository
import Testing

@testable import PushStore

/// Of each type of ids, a database in which every statement and function is understood: a cast, an operator or an argument that one
/// type lacks is found here, whichever tests run with that type.
@Suite("Ids of each type")
struct IDTypesTests {
  /// Functions that become triggers of a host's table when it is watched. Suites of watched rows run them with each type.
  private static let ofWatchedTables = """
    tacet.announce_decisions
    tacet.enqueue_watched
    tacet.follow_rows
    tacet.release_unwatched
    """

  @Test("every statement can be prepared", arguments: IDTypes.IDType.allCases)
  func prepared(_ type: IDTypes.IDType) async throws {
    let scratch = try await Self.database(of: type)
    let configuration = PostgresConfiguration(conninfo: scratch.conninfo)
    configuration.chosenTypes = IDTypes(all: type).postgresTypes
    try await onReactor { reactor in
      let connection = try await PostgresConnection.connect(configuration, logger: quiet, on: reactor)
      defer { connection.close(on: reactor) }
      for statement in PushStatements.all { try await connection.prepare(statement, on: reactor) }
    }
  }

  @Test("every function in SQL is one that the server accepts", arguments: IDTypes.IDType.allCases)
  func inSQL(_ type: IDTypes.IDType) async throws {
    let scratch = try await Self.database(of: type)
    // A migration creates functions before what they name, without a look at their bodies.
    try await scratch.server.psql(
      """
      do $$ begin
        execute (
          select string_agg(pg_get_functiondef(p.oid), ';')
          from pg_proc p join pg_language l on l.oid = p.prolang
          where p.pronamespace = 'tacet'::regnamespace and l.lanname = 'sql');
      end $$
      """, database: scratch.name)
  }

  @Test(
    "every statement of a function in PL/pgSQL is one that the server understands", arguments: IDTypes.IDType.allCases)
  func inPLpgSQL(_ type: IDTypes.IDType) async throws {
    let scratch = try await Self.database(of: type)
    try await scratch.server.psql("create extension plpgsql_check", database: scratch.name)
    // Some statements of a function are for one of the tables whose trigger it is, and wrong for all others.
    let findings = try await scratch.server.psql(
      """
      with functions as (
        select p.oid, coalesce(t.tgrelid, 0) as relation, t.tgoldtable, t.tgnewtable,
          count(*) over (partition by p.oid) as tables
        from pg_proc p join pg_language l on l.oid = p.prolang left join pg_trigger t on t.tgfoid = p.oid
        where p.pronamespace = 'tacet'::regnamespace and l.lanname = 'plpgsql'
          and (p.prorettype <> 'trigger'::regtype or t.oid is not null))
      select f.oid::regprocedure, c.lineno, c.query, min(c.message)
      from functions f
        cross join plpgsql_check_function_tb(
          f.oid, f.relation, fatal_errors => false, other_warnings => false, extra_warnings => false,
          oldtable => f.tgoldtable, newtable => f.tgnewtable) c
      group by f.oid, f.tables, c.lineno, c.query
      having count(*) = f.tables
      """, database: scratch.name)
    #expect(findings == "")
    let unattached = try await scratch.server.psql(
      """
      select p.oid::regproc from pg_proc p
      where p.pronamespace = 'tacet'::regnamespace and p.prorettype = 'trigger'::regtype
        and not exists (select from pg_trigger t where t.tgfoid = p.oid)
      order by p.proname
      """, database: scratch.name)
    #expect(unattached == Self.ofWatchedTables + "\n")
  }

  /// A database with everything that Tacet may meet at a host: its own tables, those of all examples, deletions that are marked,
  /// accounts and webhooks of extensions.
  private static func database(of type: IDTypes.IDType) async throws -> ScratchDatabase {
    let scratch = try await TestPostgres.shared.makeScratchDatabase(from: "template1")
    let wishes = IDTypeWishes(messages: type, conversations: type, users: type)
    let examples = try ["coach", "ritual", "engagement"].map {
      type.written(try String(contentsOf: Repository.file("db/examples/\($0).sql"), encoding: .utf8))
    }
    for script in [Migrator.script(createsHostTables: true, ids: wishes)] + examples {
      try await scratch.server.psql(script: script, database: scratch.name)
    }
    try await scratch.server.psql(
      """
      alter table messages add column deleted_at timestamptz;
      create schema auth;
      create table auth.users (id \(type.rawValue) primary key);
      create schema net;
      create table net.http_request_queue (id bigint);
      create function net.http_post(url text, body jsonb, headers jsonb) returns bigint language sql return 1;
      """, database: scratch.name)
    return scratch
  }
}
