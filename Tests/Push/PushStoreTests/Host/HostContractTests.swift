import Foundation
import Postgres
import Reactors
import TestIDs
import TestReactors
import TestRepository
import Testing

@testable import PushRules
@testable import PushStore

@Suite("Host contract")
struct HostContractTests {
  /// An app with names and shapes of its own.
  private static let app = """
    create table members (member uuid primary key, display text);
    create table rooms (room uuid, member uuid, looked_at timestamptz, gone_at timestamptz);
    create table posts (post uuid primary key, room uuid, author uuid, body text, at timestamptz default now());
    create table reads (post uuid, member uuid);
    create table phones (member uuid, token text, sandbox boolean, dead text, since timestamptz);
    create or replace function tacet.message_context(message_id uuid)
    returns table (
      conversation_id uuid, sender_id uuid, sender_name text, body text, created_at timestamptz, read_by uuid[],
      prior_read_by uuid[], prior_touched_at timestamptz
    ) language sql stable as $$
      select p.room, p.author, a.display, p.body, p.at,
        array(select r.member from public.reads r where r.post = p.post), null::uuid[], null::timestamptz
      from public.posts p left join public.members a on a.member = p.author where p.post = message_id
    $$;
    create or replace function tacet.seen_by(conversation_id uuid)
    returns table (user_id uuid, last_seen timestamptz, left_at timestamptz) language sql stable as $$
      select r.member, r.looked_at, r.gone_at from public.rooms r where r.room = conversation_id
    $$;
    create or replace function tacet.unread_count(user_id uuid) returns bigint language sql stable as $$
      select count(*) + 40 from public.posts p where p.author <> user_id
    $$;
    create or replace function tacet.device_tokens(user_id uuid)
    returns table (device_token text, environment text, app text) language sql stable as $$
      select p.token, case when p.sandbox then 'sandbox' end, null::text
      from public.phones p where p.member = user_id and p.dead is null
    $$;
    create or replace function tacet.invalidate_device_token(device_token text, reason text, invalid_since timestamptz)
    returns void language sql volatile as $$
      update public.phones p set dead = reason where p.token = device_token and p.since <= invalid_since
    $$;
    create or replace function tacet.learn_token_environment(
      device_token text, environment text, registered_environment text, registered_app text, read_at timestamptz
    )
    returns void language sql volatile as $$
      update public.phones p set sandbox = environment = 'sandbox'
      where p.token = device_token and p.sandbox = (registered_environment = 'sandbox') and p.since <= read_at
    $$;
    drop table push_tokens, messages, conversation_participants, conversations, profiles
    """

  @Test("with every function replaced, claims and records work on the app's own tables")
  func replaced() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(Self.app)
    let (post, room, author, reader) = (HostID.new(), HostID.new(), HostID.new(), HostID.new())
    try await database.sql(
      """
      insert into members values ('\(author)', 'Grace'), ('\(reader)', 'Reader');
      insert into rooms values ('\(room)', '\(author)', null, null), ('\(room)', '\(reader)', now() - interval '5 s', null);
      insert into posts (post, room, author, body) values ('\(post)', '\(room)', '\(author)', 'Hi');
      insert into reads values ('\(post)', '\(reader)');
      insert into phones values ('\(reader)', 'aa', true, null, now())
      """)
    let recipient = try await withStore(database) { store, reactor in
      #expect(try await store.ingest(.message(post), on: reactor) == .pending)
      let events = try await store.claim(ClaimLimits(eventsMax: 1, deliveriesMax: 1, lease: .seconds(60)), on: reactor)
      let event = try #require(events.first)
      #expect(event.message == MessagePush(conversationID: room, senderName: "Grace", text: "Hi"))
      let outcomes = event.recipients.map { RecipientOutcome(userID: $0.userID, decision: .failed) }
      let dead = [DeadTarget(address: "aa", reason: "gone", invalidSince: event.claimedAt)]
      let read = PushTarget(address: "aa", environment: "sandbox")
      let learnt = [LearntEnvironment(target: read, environment: "production", readAt: event.claimedAt)]
      let decided = DecidedEvent(
        event: event, outcomes: outcomes, deadTargets: dead, learntEnvironments: learnt, wokenBy: "webhook")
      try await store.record([decided], on: reactor)
      return try #require(event.recipients.first)
    }
    #expect(recipient.userID == reader)
    #expect(recipient.badge == 41)
    #expect(recipient.targets == [PushTarget(address: "aa", environment: "sandbox")])
    #expect(recipient.situation.hasRead)
    #expect(try #require(recipient.situation.lastSeenAge) >= .seconds(5))
    #expect(try await database.sql("select dead, sandbox from phones") == "gone|f")
  }

  @Test("a time without end in a column that clients write is no time", arguments: ["infinity", "-infinity"])
  func infinite(_ time: String) async throws {
    let chat = try await Chat()
    try await chat.see("'\(time)'")
    try await chat.send("'first'", ["updated_at": "'\(time)'", "read_by": "array['\(chat.reader)']::uuid[]"])
    try await chat.send()
    let situations = try await claim(chat.database).flatMap(\.recipients).map(\.situation)
    #expect(situations.count == 2)
    #expect(situations.allSatisfy { $0.lastSeenAge == nil })
  }
}

@Suite("The page of the host contract", .uuidsOnly)
struct ContractPageTests {
  /// The functions that a host may replace, as `name(argument, argument)`.
  private static let replaceable = """
    select format('%s(%s)', p.proname, array_to_string(p.proargnames[:p.pronargs], ', '))
    from pg_proc p
    where p.pronamespace = 'tacet'::regnamespace and p.proname in (select b.name from tacet.default_bodies b)
    order by 1
    """

  @Test("has every function with its arguments, and its example replaces defaults instead of adding functions")
  func functions() async throws {
    let page = try Repository.text("db/CONTRACT.md")
    let named = page.matches(of: /`(\w+\([\w, ]+\))`/).map { String($0.1) }.filter { !$0.hasPrefix("tacet.") }
    let database = try await TestDatabase.empty()
    let example = try Repository.contractExample()
    try await database.sql(example.tables)
    try await database.migrate()
    let functions = try await database.sql(Self.replaceable)
    #expect(functions.split(separator: "\n").map(String.init).sorted() == named.sorted())
    try await database.sql(example.wiring)
    #expect(try await database.sql(Self.replaceable) == functions)
  }

  @Test("tells which four a host replaces, and its example is claimed with these alone")
  func four() async throws {
    let database = try await TestDatabase.empty()
    let example = try Repository.contractExample()
    try await database.sql(example.tables)
    try await database.migrate()
    #expect(try await database.sql(Self.publicTables) == "")
    let needed = ["message_context", "seen_by", "device_tokens", "invalidate_device_token"]
    let functions = example.wiring.split(separator: "create or replace function tacet.")
    for name in needed {
      let text = try #require(functions.first { $0.hasPrefix("\(name)(") })
      try await database.sql("create or replace function tacet.\(text)")
    }
    try await database.sql(
      """
      insert into app.people values ('00000000-0000-0000-0000-000000000001', 'Ann'), ('00000000-0000-0000-0000-000000000002', 'Bob');
      insert into app.members select '00000000-0000-0000-0000-00000000000a', id from app.people;
      insert into app.phones (token, person) values ('aa', '00000000-0000-0000-0000-000000000002');
      create trigger tacet_message_inserted after insert on app.chat referencing new table as inserted
      for each statement execute function tacet.enqueue_inserted_messages();
      insert into app.chat (room, author, body)
      values ('00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-000000000001', 'Hi @someone')
      """)
    let events = try await claim(database)
    #expect(events.map { $0.message?.text } == ["Hi @someone"])
    let recipient = try #require(events.first?.recipients.first)
    #expect(recipient.targets.map(\.address) == ["aa"] && recipient.badge == nil)
    let inert = "select string_agg(proname, ' ' order by proname) from pg_proc where prosrc like '% -- inert'"
    let others =
      "device_token_owners is_mentioned learn_token_environment mark_read profile_name register_device remove_device"
    #expect(try await database.sql(inert) == others + " takes_part unread_count user_time_zone view_conversations")
    let answers = """
      select tacet.takes_part('00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-000000000002'),
        tacet.takes_part('00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-000000000003'),
        tacet.takes_part('00000000-0000-0000-0000-00000000000b', '00000000-0000-0000-0000-000000000002'),
        tacet.is_mentioned((select id from app.chat), '00000000-0000-0000-0000-000000000002')
      """
    #expect(try await database.sql(answers) == "t|f||f")
  }

  @Test("a host's table of tokens that registrations cannot be written into stays the host's")
  func otherTokens() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql("create table push_tokens (user_id uuid, token text, platform text)")
    try await database.migrate()
    let inert = """
      select string_agg(proname, ' ' order by proname)
      from pg_proc where prosrc like '% -- inert' and proname ~ '_device$'
      """
    #expect(try await database.sql(inert) == "register_device remove_device")
    try await database.sql(
      """
      alter table push_tokens rename token to device_token;
      alter table push_tokens add registered_at timestamptz, add invalidated_at timestamptz, add invalidation_reason text,
        add environment text, add app text, add locale text, add time_zone text
      """)
    try await database.migrate()
    #expect(try await database.sql(inert) == "")
  }

  static let publicTables = """
    select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1
    """
}

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
          step: "reach", outcome: .empty,
          message:
            "none of the recipients of the newest messages of public.messages has a device, by public.push_tokens"))
    try await chat.register(String(repeating: "0a", count: 32))
    #expect(try await reach()?.outcome == .done)
    try await chat.database.sql("delete from conversation_participants where user_id = '\(chat.reader)'")
    #expect(
      try await reach()
        == ContractTrial(
          step: "reach", outcome: .empty,
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
          step: "device_tokens", outcome: .empty, message: "no policy shows this role the rows of app.\"odd phones\""),
        ContractTrial(
          step: "takes_pushes", outcome: .empty, message: "no policy shows this role the rows of app.people"),
        ContractTrial(
          step: "reach", outcome: .empty,
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
