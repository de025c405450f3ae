import Foundation
import TestHosts
import TestPostgres
import Testing

/// A migrated database of a host, and what `tacet bench` says about it.
struct BenchHost {
  let server: TestPostgres
  let database: String
  let settings: [String: String]

  /// The default host's tables, or those of an application that `tacet init` wires, with people and some messages.
  init(_ sample: HostSample? = nil, server: TestPostgres? = nil, messages: Int = 5) async throws {
    let shared: TestPostgres
    if let server { shared = server } else { shared = try await TestPostgres.shared }
    self.server = shared
    let conninfo = try await shared.makeDatabase()
    database = String(try #require(conninfo.split(separator: "=").last))
    settings = ["DATABASE_URL": conninfo]
    if let sample { try await wire(sample) } else { try await makeDefault() }
    for _ in 0..<messages { try await sql(sample?.message ?? Self.message) }
  }

  private func wire(_ sample: HostSample) async throws {
    try await sql(sample.tables)
    let migration = try await CommandRun.tacet(["migrate"] + sample.migrateOptions, settings)
    try #require(migration.exitCode == 0, "\(migration.output)")
    let wiring = try await CommandRun.tacet(["init", "--output", "-"] + sample.options, settings)
    try #require(wiring.exitCode == 0, "\(wiring.output)")
    try await sql(wiring.output)
    try await sql(sample.people.replacing("$token", with: String(repeating: "ab", count: 32)))
    try await sql(sample.note)
  }

  static let (conversation, sender, reader) = (
    "00000000-0000-4000-8000-0000000000c0", "00000000-0000-4000-8000-00000000000a",
    "00000000-0000-4000-8000-00000000000b"
  )
  static let message =
    "insert into messages (conversation_id, from_id, text) values ('\(conversation)', '\(sender)', 'Hello') returning id"

  private func makeDefault() async throws {
    let migration = try await CommandRun.tacet(["migrate", "--create-host-tables"], settings)
    try #require(migration.exitCode == 0, "\(migration.output)")
    try await sql(
      """
      insert into profiles (id, name) values ('\(Self.sender)', 'Ann'), ('\(Self.reader)', 'Bob');
      insert into conversations (id) values ('\(Self.conversation)');
      insert into conversation_participants (conversation_id, user_id)
      values ('\(Self.conversation)', '\(Self.sender)'), ('\(Self.conversation)', '\(Self.reader)');
      insert into push_tokens (user_id, device_token) values ('\(Self.reader)', '\(String(repeating: "ab", count: 32))')
      """)
  }

  /// Has the reader ask for mentions only.
  func wantMentionsOnly() async throws {
    try await sql(
      """
      insert into tacet.conversation_preferences (user_id, conversation_id, is_muted, mentions_only)
      values ('\(Self.reader)', '\(Self.conversation)', false, true)
      """)
  }

  /// Has a function of the host contract do something before each call.
  func precede(_ function: String, by statement: String) async throws {
    try await sql(
      """
      create schema host;
      do $do$
      declare
        f record;
      begin
        select
          p.oid::regprocedure as id, p.proretset, pg_get_function_arguments(p.oid) as parameters,
          pg_get_function_result(p.oid) as result,
          (select string_agg('$' || n, ', ') from generate_series(1, p.pronargs) n) as arguments
        into f
        from pg_proc p where p.pronamespace = 'tacet'::regnamespace and p.proname = '\(function)';
        execute format('alter function %s set schema host', f.id);
        execute format(
          'create function tacet.\(function)(%s) returns %s language plpgsql as $b$ begin %s; return %s; end $b$',
          f.parameters, f.result, $s$\(statement)$s$,
          case when f.proretset then 'query select * from ' else '' end
            || format('host.\(function)(%s)', f.arguments));
      end
      $do$
      """)
  }

  @discardableResult
  func sql(_ text: String) async throws -> String {
    try await server.psql(text, database: database).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// How a role without a password connects.
  func conninfo(as role: String) -> String {
    "host=\(server.folder) port=\(server.port) user=\(role) dbname=\(database)"
  }

  /// A run that ends within two seconds, unless a host's function is slow.
  func bench(_ arguments: [String] = [], settings: [String: String]? = nil) async throws -> CommandRun {
    try await CommandRun.tacet(
      ["bench", "--seconds", "2", "--concurrency", "2"] + arguments, settings ?? self.settings)
  }

  /// The rows of every table, and what its triggers have left.
  func rows() async throws -> String {
    try await sql(
      """
      select string_agg(t.oid::regclass || ' ' || (xpath('//n/text()', query_to_xml(
        format('select count(*) as n, max(xmin::text::bigint) from %s', t.oid::regclass), false, true, '')))[1]::text
        || ' ' || pg_relation_size(t.oid), ',' order by t.oid)
      from pg_class t
      where t.relkind = 'r' and t.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      """)
  }
}

/// The JSON of a run.
struct BenchAnswer: Decodable {
  struct Times: Decodable {
    let count: Int
    let p50: Int
    let p99: Int
    let most: Int
  }

  struct Function: Decodable {
    let name: String
    let times: Times?
    let worst: String?
  }

  let role: String
  let messages_from: String
  let messages: Int
  let measured: Int
  let gone: Int
  let round_trip: Times
  let functions: [Function]
  let recipients: Times?
  let targets: Times?
  let read: Times?
  let read_together: Times?
  let reads_per_second: Int
  let findings: [String]
  let exit_code: Int

  init(_ run: CommandRun) throws {
    self = try JSONDecoder().decode(BenchAnswer.self, from: Data(run.output.utf8))
  }

  func times(of function: String) -> Times? { functions.first { $0.name == function }?.times }
}
