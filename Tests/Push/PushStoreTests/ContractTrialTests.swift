import Foundation
import Postgres
import PushRules
import Reactors
import TestReactors
import Testing

@testable import PushStore

@Suite("A message played through the host contract")
struct ContractTrialTests {
  private static let everything = """
    select (select count(*) from messages), (select count(*) from push_tokens), (select count(*) from tacet.inbox),
      (select count(*) from conversation_participants where last_seen is not null)
    """

  private static let selectPolicies = ["messages", "conversation_participants", "push_tokens", "profiles"].map {
    "drop policy $role on \($0); drop policy if exists \"service $role\" on \($0); create policy s on \($0) for select to $role using (true);"
  }.joined()

  private static let writePolicies = """
    create policy w on messages for update to $role using (true);
    create policy w on conversation_participants for update to $role using (true);
    create policy w on push_tokens to $role using (true) with check (true);
    """

  @Test("of the default host works, with and without an insert, and leaves nothing", arguments: [true, false])
  func works(_ isInserting: Bool) async throws {
    let chat = try await Chat()
    try await chat.send()
    try await chat.register(String(repeating: "0a", count: 32))
    let before = try await chat.database.sql(Self.everything)
    let trials = try await rehearse(chat.database, isInserting: isInserting)
    #expect(trials.count == (isInserting ? 18 : 17))
    #expect(trials.filter { $0.outcome != .done }.map(\.step) == (isInserting ? [] : ["trigger"]))
    #expect(try await chat.database.sql(Self.everything) == before)
  }

  @Test("works before there is anybody, and by a role with the documented grants")
  func nobody() async throws {
    let trials = try await rehearse(try await ServiceRoleTests.database(.after))
    #expect(trials.filter { $0.outcome == .failed || $0.outcome == .empty } == [])
  }

  @Test("finds nobody where no recipient has a device or no message a recipient, and names the tables")
  func nobodyReached() async throws {
    let chat = try await Chat()
    try await chat.send()
    func reach() async throws -> ContractTrial? { try await rehearse(chat.database).first { $0.step == "reach" } }
    #expect(
      try await reach()
        == ContractTrial(
          "reach", .empty,
          message:
            "none of the recipients of the newest messages of public.messages has a device, by public.push_tokens"))
    try await chat.register(String(repeating: "0a", count: 32))
    #expect(try await reach()?.outcome == .done)
    try await chat.database.sql("delete from conversation_participants where user_id = '\(chat.reader)'")
    #expect(
      try await reach()
        == ContractTrial(
          "reach", .empty,
          message: "none of the newest messages of public.messages is for anybody, by public.conversation_participants")
    )
  }

  @Test("names tables of the host whose rows row-level security hides from the service, in any function")
  func hidden() async throws {
    let chat = try await Chat(in: try await ServiceRoleTests.database(.after))
    try await chat.send()
    let role = try #require(chat.database.role)
    try await chat.database.sql(
      """
      create schema app;
      create table app."odd phones" (person uuid, token text);
      create table app.people (id uuid, is_gone boolean);
      insert into app."odd phones" values ('\(chat.reader)', repeat('0a', 32));
      alter table app."odd phones" enable row level security;
      alter table app.people enable row level security;
      grant usage on schema app to \(role);
      grant select on all tables in schema app to \(role);
      create or replace function tacet.device_tokens(user_id uuid)
      returns table (device_token text, environment text, app text) language sql stable as $$
        select f.token, null::text, null::text from app."odd phones" f where f.person = device_tokens.user_id
      $$;
      create or replace function tacet.takes_pushes(user_id uuid) returns boolean language plpgsql stable as $$
        begin return exists (select from app.people p where p.id = takes_pushes.user_id); end
      $$
      """)
    let empty = try await rehearse(chat.database).filter { $0.outcome == .empty }
    #expect(
      empty == [
        ContractTrial(
          "device_tokens", .empty, message: "no policy shows this role the rows of app.\"odd phones\""),
        ContractTrial("takes_pushes", .empty, message: "no policy shows this role the rows of app.people"),
        ContractTrial(
          "reach", .empty,
          message:
            "none of the recipients of the newest messages of public.messages has a device, by app.\"odd phones\", app.people"
        ),
      ])
  }

  @Test(
    "names what fails, with the SQLSTATE, and the column or table",
    arguments: [
      ("drop trigger tacet_message_inserted on messages", "trigger", nil, "no table"),
      ("alter table messages disable trigger tacet_message_inserted", "trigger", nil, "no table"),
      ("alter table profiles rename name to title", "message_context", "42703", "p.name"),
      ("alter table conversation_participants rename tacet_left_at to gone_at", "seen_by", "42703", "tacet_left_at"),
      ("alter table push_tokens rename platform to system", "device_tokens", "42703", "platform"),
      (
        """
        create or replace function tacet.unread_count(user_id uuid) returns bigint language plpgsql as $$
        begin raise exception 'words-of-a-row' using errcode = '42501'; end $$
        """, "unread_count", "42501", "server's log"
      ),
      (
        """
        create or replace function tacet.message_context(message_id uuid) returns table (
          conversation_id uuid, sender_id uuid, sender_name text, body text, created_at timestamptz, read_by uuid[],
          prior_read_by uuid[], prior_touched_at timestamptz
        ) language plpgsql as 'begin return; end'
        """, "message_context", nil, "knows nothing"
      ),
    ] as [(String, String, String?, String)])
  func fails(_ fault: String, _ step: String, _ state: String?, _ part: String) async throws {
    let chat = try await Chat()
    try await chat.send()
    try await chat.database.sql(fault)
    let failed = try await rehearse(chat.database).filter { $0.outcome == .failed }
    let trial = try #require(failed.first { $0.step == step }, "\(failed)")
    #expect(trial.sqlState == state && trial.message.contains(part), "\(trial)")
    #expect(!failed.contains { $0.message.contains("words-of-a-row") })
  }

  @Test(
    "a role under row-level security that may read and not write is told of each function, and of none with policies")
  func rowSecurity() async throws {
    let chat = try await Chat(in: try await ServiceRoleTests.database(.after))
    try await chat.send()
    let role = try #require(chat.database.role)
    try await chat.database.sql(Self.selectPolicies.replacing("$role", with: role))
    let failed = try await rehearse(chat.database).filter { $0.outcome == .failed }
    #expect(failed.map(\.step) == ["register_device", "view_conversations", "mark_read"])
    let missing = try await missingRights(chat.database)
    #expect(
      missing == [
        "policy for update on public.conversation_participants", "policy for update on public.messages",
        "policy for delete on public.push_tokens", "policy for insert on public.push_tokens",
        "policy for update on public.push_tokens",
      ])
    try await chat.database.sql(Self.writePolicies.replacing("$role", with: role))
    #expect(try await rehearse(chat.database).filter { $0.outcome == .failed } == [])
    #expect(try await missingRights(chat.database) == [])
  }

  @Test("looks and reads that row-level security lets nobody write are told apart from rows that somebody has locked")
  func unwritable() async throws {
    let chat = try await Chat(in: try await ServiceRoleTests.database(.after))
    try await chat.send()
    let role = try #require(chat.database.role)
    try await chat.database.sql(Self.selectPolicies.replacing("$role", with: role))
    let view = SurfaceView(of: .conversation(chat.id), by: chat.reader)
    let report = ReadReport(conversationID: chat.id, userID: chat.reader)
    let (looked, read) = try await withStore(chat.database) { store, reactor in
      (
        try await store.note([view: PresenceReport(.looking)], on: reactor)[view],
        try await store.read(report, isSynced: false, on: reactor)
      )
    }
    #expect(looked == .unwritable)
    #expect(read == .refused(.unwritable))
    try await chat.database.sql(Self.writePolicies.replacing("$role", with: role))
    try await withTwoSessions(chat.database) { locker, _, reactor in
      try await locker.run("begin; select from public.conversation_participants for no key update", on: reactor)
      let busy = try await withStore(chat.database) {
        try await $0.note([view: PresenceReport(.looking)], on: $1)[view]
      }
      #expect(busy == .busy)
      try await locker.run("rollback", on: reactor)
    }
    let done = try await withStore(chat.database) { try await $0.read(report, isSynced: false, on: $1) }
    #expect(done == .marked(count: 1, badge: 0, syncWait: nil))
  }

  @Test("a host with tables of its own is asked for no right on those of the default host")
  func otherTables() async throws {
    var database = try await TestDatabase.migrated()
    try await database.sql(Self.otherHost)
    database.role = try await makeRole(in: database, "select tacet.grant_service('$role')")
    let tables = try await examine(database) { try await $0.contractTables(on: $1) }
    #expect(tables.isDisjoint(with: ["push_tokens", "conversation_participants"]))
    let missing = try await missingRights(database)
    #expect(!missing.contains { $0.contains("push_tokens") || $0.contains("participants") }, "\(missing)")
  }

  @Test("a table conversations that only functions of campaigns would read is asked for no right")
  func conversationsOfOthers() async throws {
    var database = try await TestDatabase.empty()
    try await database.sql(
      """
      create schema app; create table app.chat (id uuid primary key);
      create table conversations (id uuid primary key, owner_id uuid, created_at timestamptz)
      """)
    try await database.migrate()
    database.role = try await makeRole(
      in: database, "select tacet.grant_service('$role'); grant usage on schema public to $role")
    #expect(try await missingRights(database).filter { $0.contains("public.") } == [])
    #expect(try await examine(database) { try await $0.contractTables(on: $1) } == [])
  }

  /// Functions that read tokens and participants elsewhere.
  private static let otherHost = """
    do $$
    declare
      f record;
    begin
      for f in
        select p.oid::regprocedure as name, p.proname, pg_get_function_arguments(p.oid) as arguments,
          pg_get_function_result(p.oid) as result, p.proretset
        from pg_proc p
        where p.pronamespace = 'tacet'::regnamespace and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
          and p.prosrc ~ 'public\\.(push_tokens|conversation_participants)' and p.proname <> 'rehearse_message'
      loop
        execute format(
          'create or replace function tacet.%I(%s) returns %s language plpgsql as %L', f.proname, f.arguments, f.result,
          case when f.result = 'void' or f.proretset then 'begin return; end' else 'begin return null; end' end);
      end loop;
    end
    $$
    """

  private func rehearse(_ database: TestDatabase, isInserting: Bool = true) async throws -> [ContractTrial] {
    try await onConnection(to: database) { connection, reactor in
      try ContractTrial.trials(
        from: try await connection.query(.rehearseMessage(isInserted: isInserting), on: reactor))
    }
  }

  private func missingRights(_ database: TestDatabase) async throws -> [String] {
    try await examine(database) { examination, reactor in
      try await examination.missingRights(on: reactor).map { "\($0.privilege) on \($0.object)" }
    }
  }

  private func examine<Value: Sendable>(
    _ database: TestDatabase,
    _ body: @escaping @Sendable (DatabaseExamination, isolated Reactor) async throws -> Value
  ) async throws -> Value {
    try await onConnection(to: database) { try await body(DatabaseExamination(over: $0), $1) }
  }
}
