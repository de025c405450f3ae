import Foundation
import Simulators
import TestHosts
import TestPostgres
import TestProcesses
import TestRepository
import Testing

/// An application whose tables are not those of the default host, from its trigger to an accepted push.
struct HostShape: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The tables, before `tacet migrate`.
  let tables: String
  /// What the host adds after it.
  var wiring = ""
  /// Two users, `$sender` and `$reader`, in the conversation `$room`, and the reader's device `$token`.
  let people: String
  /// Writes a message, and returns its id.
  let message: String
  /// Writes one that is not to be pushed.
  var note = "select 1"

  private static let views = HostShape(
    testDescription: "users, conversations and participants are views",
    tables: """
      create schema app;
      create table app.people (id uuid primary key, name text);
      create table app.rooms (id uuid primary key);
      create table app.members (conversation_id uuid, user_id uuid, seen_at timestamptz);
      create view profiles as select id, name from app.people;
      create view conversations as select id from app.rooms;
      create view conversation_participants as
      select conversation_id, user_id, seen_at as last_seen, null::timestamptz as tacet_left_at from app.members;
      create table messages (
        id uuid primary key default gen_random_uuid(), conversation_id uuid, from_id uuid, text text,
        read_by uuid[] not null default '{}', created_at timestamptz not null default now(), updated_at timestamptz
      );
      create table push_tokens (user_id uuid, device_token text primary key, platform text not null default 'ios')
      """,
    people: """
      insert into app.people values ('$sender', 'Ann'), ('$reader', 'Reader');
      insert into app.members values ('$room', '$sender'), ('$room', '$reader');
      insert into push_tokens values ('$reader', '$token')
      """,
    message: Self.message)

  private static let partitioned = HostShape(
    testDescription: "messages are partitioned by time, one partition has its own trigger",
    tables: """
      create table profiles (id uuid primary key, name text);
      create table conversations (id uuid primary key);
      create table conversation_participants (conversation_id uuid, user_id uuid);
      create table messages (
        id uuid default gen_random_uuid(), conversation_id uuid, from_id uuid, text text, read_by uuid[] not null default '{}',
        created_at timestamptz not null default now(), updated_at timestamptz, primary key (id, created_at)
      ) partition by range (created_at);
      create table messages_old partition of messages for values from (minvalue) to ('2020-01-01');
      create table messages_new partition of messages for values from ('2020-01-01') to (maxvalue);
      create table push_tokens (user_id uuid, device_token text primary key, platform text not null default 'ios')
      """,
    wiring: """
      create trigger tacet_message_inserted after insert on messages_new referencing new table as inserted
      for each statement execute function tacet.enqueue_inserted_messages('conversation_id', 'created_at')
      """,
    people: """
      insert into profiles values ('$sender', 'Ann'), ('$reader', 'Reader');
      insert into conversation_participants values ('$room', '$sender'), ('$room', '$reader');
      insert into push_tokens values ('$reader', '$token')
      """,
    message: Self.message)

  private static let direct = HostShape(
    testDescription: "a message is inserted into a partition by its name", tables: partitioned.tables,
    wiring: partitioned.wiring, people: partitioned.people,
    message: Self.message.replacing("into messages", with: "into messages_new"))

  private static let message = """
    insert into messages (conversation_id, from_id, text) values ('$room', '$sender', 'Hello') returning id
    """

  /// The example of db/CONTRACT.md.
  private static func example() throws -> HostShape {
    let example = try Repository.contractExample()
    return HostShape(
      testDescription: "the example of db/CONTRACT.md", tables: example.tables, wiring: example.wiring,
      people: """
        insert into app.people values ('$sender', 'Ann'), ('$reader', 'Reader');
        insert into app.members values ('$room', '$sender'), ('$room', '$reader');
        insert into app.phones (token, person) values ('$token', '$reader')
        """,
      message: "insert into app.chat (room, author, body) values ('$room', '$sender', 'Hello') returning id",
      note: "insert into app.chat (room, author, body, kind) values ('$room', '$sender', 'joined', 'system')")
  }

  static func all() throws -> [HostShape] { [views, partitioned, direct, try example()] }
}

@Suite("Applications of other shapes", .serialized)
struct HostShapeTests {
  @Test("get their pushes, and the doctor finds nothing that fails", arguments: try HostShape.all())
  func pushed(_ shape: HostShape) async throws {
    let scene = try await ServiceScene(host: shape.tables, migrateOptions: HostSample.uuids)
    let names = ["sender", "reader", "room"].reduce(into: [:]) { $0[$1] = UUID().uuidString.lowercased() }
    let token = Conversation.newToken()
    func filled(_ sql: String) -> String {
      names.reduce(sql.replacing("$token", with: token)) { $0.replacing("$\($1.key)", with: $1.value) }
    }
    if !shape.wiring.isEmpty { try await scene.sql(shape.wiring) }
    try await scene.sql(filled(shape.people))
    scene.register(token)
    let service = try await scene.startService()
    try await scene.sql(filled(shape.note))
    let message = try await scene.sql(filled(shape.message))
    #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
    #expect(try await scene.settled(message) == [names["reader", default: ""]: "sent "])
    try await scene.wait(for: "0|1", to: "select (select count(*) from tacet.inbox), count(*) from tacet.push_log")
    let run = try await DoctorRun(scene.settings)
    #expect(run.lines("FAIL") == [], "\(run.text)")
    try await service.stop()
    await scene.simulator.stop()
  }

  @Test("whose messages can be deleted softly: a held one is never pushed, and an edited one with its new text")
  func softDeletion() async throws {
    let scene = try await ServiceScene(extra: ["SUPPRESSION_WINDOW_SECONDS": "600"])
    try await scene.sql("alter table messages add deleted_at timestamptz")
    let migration = try ServiceProcess(
      ["migrate"], settings: ["DATABASE_URL": scene.postgres.conninfo(database: scene.database)])
    #expect(try await migration.exitCode() == 0)
    let service = try await scene.startService()
    let conversation = try await Conversation(scene, [.viewing()])
    let user = conversation.people[0]
    let (deleted, edited) = (try await conversation.say(), try await conversation.say())
    for message in [deleted, edited] {
      #expect(try await scene.ledger(of: message, held: 1) == [user: "held user_viewing"])
    }
    try await scene.sql("update messages set deleted_at = now() where id = '\(deleted)'")
    #expect(try await scene.settled(deleted) == [user: "skipped deleted"])
    let text = Conversation.newText()
    try await scene.sql(
      """
      update messages set text = '\(text)' where id = '\(edited)';
      update conversation_participants set tacet_left_at = now() where user_id = '\(user)'
      """)
    #expect(try await scene.settled(edited) == [user: "sent "])
    let pushes = try await scene.pushes(of: edited, atLeast: 1)
    #expect(pushes.count == 1)
    #expect(pushes.first?.payload.contains(text) == true)
    #expect(try await scene.pushes(of: deleted, atLeast: 0).isEmpty)
    try await service.stop()
    await scene.simulator.stop()
  }
}

@Suite("Row-level security that is forced upon the owner")
struct ForcedRowSecurityTests {
  /// Makes a role that may log in the owner of everything, and no exception from row-level security.
  private static func force(upon role: String) -> String {
    """
    create role \(role) login;
    do $$
    declare
      owned record;
    begin
      for owned in
        select c.oid::regclass as name, c.relkind
        from pg_class c
        where c.relnamespace in ('tacet'::regnamespace, 'public'::regnamespace) and c.relkind in ('r', 'v')
      loop
        execute format('alter table %s owner to \(role)', owned.name);
        if owned.relkind = 'r' then
          execute format('alter table %s force row level security', owned.name);
        end if;
      end loop;
      for owned in select p.oid::regprocedure as name from pg_proc p where p.pronamespace = 'tacet'::regnamespace loop
        execute format('alter routine %s owner to \(role)', owned.name);
      end loop;
      alter schema tacet owner to \(role);
    end
    $$
    """
  }

  @Test("is told at the start and by the doctor, and gone when their remedy is followed")
  func told() async throws {
    var doctor = try await DoctorScene()
    let role = "owner_\(doctor.scene.database)"
    try await doctor.scene.sql(Self.force(upon: role))
    doctor.settings["DATABASE_URL"] = doctor.conninfo(as: role)
    let process = try ServiceProcess(["serve"], settings: doctor.settings)
    let warning = try await process.line(containing: "row-level security hides the service's own tables")
    #expect(warning.contains("tacet.grant_service"))
    let serving = try await process.line(containing: "serving")
    let address = try #require(serving.split(separator: " ").first { $0.hasPrefix("address=") }).dropFirst(8)

    let before = try await DoctorRun(doctor.settings)
    let rights = before.lines("FAIL").filter { $0.hasPrefix("FAIL  rights: ") }
    #expect(rights.contains { $0.contains("lacks policy on tacet.") && $0.contains("tacet.grant_service('\(role)')") })
    #expect(rights.contains { $0.contains("public.messages") && $0.contains("create policy") })
    #expect(before.exitCode == 1)

    try await doctor.scene.sql("select tacet.grant_service('\(role)')")
    let after = try await DoctorRun(doctor.settings)
    #expect(after.exitCode == 0 && after.lines("FAIL") == [], "\(after.text)")
    let service = RunningService(process: process, origin: "http://\(address)")
    #expect(try await service.readiness().status == 200)
    try await service.stop()
    await doctor.scene.simulator.stop()
  }
}

@Suite("A database whose transactions are serializable by default", .serialized)
struct IsolationTests {
  @Test("a burst is pushed once and recorded whole by two reactors", arguments: DatabaseRoute.allCases)
  func burst(_ route: DatabaseRoute) async throws {
    let scene = try await ServiceScene(route: route, extra: ["REACTORS": "2"])
    try await scene.sql("alter database \(scene.database) set default_transaction_isolation = 'serializable'")
    let service = try await scene.startService()
    let conversation = try await Conversation(scene, [.away(), .away()])
    let count = 200
    try await conversation.burst(of: count)
    let sent = "select count(*) from tacet.push_log where decision = 'sent' and devices_accepted = 1"
    try await scene.wait(for: "\(2 * count)", to: sent, within: .seconds(120))
    #expect(try await scene.sql("select count(*) from tacet.inbox") == "0")
    #expect(scene.simulator.service.withLog { $0.total } == 2 * count)
    try await service.stop()
    await scene.simulator.stop()
  }
}

@Suite("Applications wired by tacet init", .serialized)
struct WiredHostTests {
  @Test(
    "get their pushes without a hand-written line, and the doctor finds nothing that fails", arguments: HostSample.all)
  func pushed(_ sample: HostSample) async throws {
    let scene = try await ServiceScene(host: sample.tables, migrateOptions: sample.migrateOptions)
    let output = try await wire(scene, sample)
    let migrate = (["tacet", "migrate"] + sample.migrateOptions).joined(separator: " ")
    #expect(output.contains("\n  \(migrate)   # its notices name"), "\(output)")
    try await expectPush(scene, sample, settings: scene.settings)
  }

  @Test("get them beside tables that have the names of the default contract and are something else")
  func strangers() async throws {
    let sample = HostSample.laravelChat
    let strangers = """
      ; create table messages (tenant int, id uuid, subject text, primary key (tenant, id));
      create table profiles (id numeric primary key, bio text);
      create table conversations (id text primary key);
      create table conversation_participants (conversation_id uuid, user_id uuid);
      create table push_tokens (user_id bigint, device_token bytea)
      """
    let scene = try await ServiceScene(host: sample.tables + strangers, migrateOptions: sample.migrateOptions)
    let role = "service_\(scene.database)"
    try await scene.sql("create role \(role) login; select tacet.grant_service('\(role)')")
    _ = try await wire(scene, sample, ["--role", role])
    var settings = scene.settings
    settings["DATABASE_URL"] =
      "host=\(scene.postgres.folder) port=\(scene.postgres.port) user=\(role) dbname=\(scene.database)"
    try await expectPush(scene, sample, settings: settings)
    let marks =
      "select count(*) from pg_trigger t where t.tgname ~ '^tacet' and not t.tgisinternal and t.tgrelid = any (array["
    let names = ["messages", "profiles", "conversation_participants"].map { "'public.\($0)'::regclass" }
    #expect(try await scene.sql("\(marks)\(names.joined(separator: ", "))])") == "0")
  }

  @Test("have the rights and policies of a service with a separate role")
  func role() async throws {
    let sample = HostSample.supabaseChat
    let scene = try await ServiceScene(host: sample.tables, migrateOptions: sample.migrateOptions)
    let role = "service_\(scene.database)"
    try await scene.sql(
      """
      create role \(role) login;
      select tacet.grant_service('\(role)');
      grant usage on schema public to \(role);
      grant select, insert, update, delete on public.push_log to \(role)
      """)
    _ = try await wire(scene, sample, ["--role", role])
    var settings = scene.settings
    settings["DATABASE_URL"] =
      "host=\(scene.postgres.folder) port=\(scene.postgres.port) user=\(role) dbname=\(scene.database)"
    try await expectPush(scene, sample, settings: settings)
    let pair = "array['\(sample.conversation)'::uuid], array['\(sample.reader)'::uuid]"
    let token = String(repeating: "1f", count: 32)
    let written = try await scene.sql(
      """
      set role \(role);
      select is_participant, is_skipped from tacet.view_conversations(\(pair), array[true], array[false]);
      select tacet.register_device('\(sample.reader)', '\(token)', 'sandbox', null, 'ios', null, null, 1);
      select device_token, environment from tacet.device_tokens('\(sample.reader)');
      select tacet.learn_token_environment('\(token)', 'production', 'sandbox', null, clock_timestamp());
      select environment from tacet.device_tokens('\(sample.reader)');
      select tacet.remove_device('\(sample.reader)', '\(token)')
      """)
    #expect(written.split(separator: "\n").map(String.init) == ["t|f", "\(token)|sandbox", "production", "t"])
    try await scene.sql("delete from profiles where id = '\(sample.reader)'")
    #expect(try await scene.sql("select count(*) from tacet_host.presence") == "0")
  }

  /// Runs `tacet init`, edits what it proposes where the sample does, applies its file, and returns what it printed last.
  private func wire(_ scene: ServiceScene, _ sample: HostSample, _ options: [String] = []) async throws -> String {
    let folder = try makeTemporaryFolder("test-init")
    let (mapping, file) = (folder + "/tacet.host", folder + "/wiring.sql")
    let settings = ["DATABASE_URL": scene.postgres.conninfo(database: scene.database)]
    var wiring = try ServiceProcess(["init", "--mapping", mapping, "--output", file] + options, settings: settings)
    #expect(try await wiring.exitCode() == (sample.edits.isEmpty ? 0 : 1), "\(wiring.text)")
    if !sample.edits.isEmpty {
      #expect(!FileManager.default.fileExists(atPath: file))
      let edited = sample.edited(try String(contentsOfFile: mapping, encoding: .utf8))
      try edited.write(toFile: mapping, atomically: true, encoding: .utf8)
      wiring = try ServiceProcess(["init", "--from", mapping, "--output", file], settings: settings)
      try #require(try await wiring.exitCode() == 0, "\(wiring.text)")
    }
    try await scene.postgres.psql(script: String(contentsOfFile: file, encoding: .utf8), database: scene.database)
    return wiring.text
  }

  /// Plays a message that is pushed and what is not, and asks the doctor.
  private func expectPush(_ scene: ServiceScene, _ sample: HostSample, settings: [String: String]) async throws {
    let token = Conversation.newToken()
    try await scene.sql(sample.people.replacing("$token", with: token))
    scene.register(token)
    let service = try await scene.startService(settings: settings)
    try await scene.sql(sample.note)
    let message = try await scene.sql(sample.message)
    let pushes = try await scene.pushes(of: message, atLeast: 1)
    #expect(pushes.count == 1)
    let payload = try #require(pushes.first?.payload)
    #expect(payload.contains(sample.shown.text))
    if let name = sample.shown.name { #expect(payload.contains(name)) }
    #expect(try await scene.settled(message) == [sample.reader: "sent "])
    try await scene.wait(for: "0|1", to: "select (select count(*) from tacet.inbox), count(*) from push_log")
    let run = try await DoctorRun(settings)
    #expect(run.lines("FAIL") == [], "\(run.text)")
    // Of the default host's triggers and indexes, also where a table has its names.
    #expect(run.lines("warn").filter { $0.contains("triggers:") || $0.contains("indexes:") } == [], "\(run.text)")
    try await service.stop()
    await scene.simulator.stop()
  }
}
