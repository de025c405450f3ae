import Foundation
import Simulators
import TestPostgres
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
    let scene = try await ServiceScene(host: shape.tables)
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
    #expect(try await scene.ledger(of: message, rows: 1) == [names["reader", default: ""]: "sent "])
    #expect(try await scene.sql("select (select count(*) from tacet.inbox), count(*) from tacet.push_log") == "0|1")
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
      #expect(try await scene.ledger(of: message, rows: 1) == [user: "held user_viewing"])
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
