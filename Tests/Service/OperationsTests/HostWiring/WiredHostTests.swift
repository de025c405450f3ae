import Foundation
import Logging
import Operations
import Postgres
import PushRules
import PushStore
import Reactors
import TestHosts
import TestPostgres
import TestReactors
import Testing

/// A database with an application's tables, and what is guessed of them.
struct WiredHost {
  let server: TestPostgres
  let database: String
  let schema: HostSchema

  init(_ tables: String) async throws {
    server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    database = String(try #require(conninfo.split(separator: "=").last))
    try await server.psql(tables, database: database)
    schema = try await Self.look(conninfo)
  }

  private init(_ other: WiredHost, _ schema: HostSchema) {
    (server, database, self.schema) = (other.server, other.database, schema)
  }

  /// With what is there now.
  func again() async throws -> WiredHost { WiredHost(self, try await lookAgain()) }

  /// What is there now.
  func lookAgain() async throws -> HostSchema { try await Self.look(server.conninfo(database: database)) }

  private static func look(_ conninfo: String) async throws -> HostSchema {
    try await Self.asked(conninfo) { look, reactor in try await look.schema(on: reactor).schema }
  }

  private static func asked<Answer: Sendable>(
    _ conninfo: String, _ question: @escaping @Sendable (HostLook, isolated Reactor) async throws -> Answer
  ) async throws -> Answer {
    try await onReactor { reactor in
      let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      let examination = try await DatabaseExamination.begin(conninfo, within: .seconds(30), logger: logger, on: reactor)
      defer { examination.end(on: reactor) }
      return try await question(HostLook(database: examination), reactor)
    }
  }

  /// What a mapping means here.
  func wiring(_ mapping: String) async throws -> WiringFile {
    let schema = schema
    return try await Self.asked(server.conninfo(database: database)) { look, reactor in
      try await look.wiring(try HostMapping(mapping), schema, on: reactor)
    }
  }

  /// What `tacet init --check` prints.
  func check(_ wiring: WiringFile, appRole: String? = nil) async throws -> [String] {
    try await Self.asked(server.conninfo(database: database)) { look, reactor in
      try await look.check(wiring, appRole: appRole, on: reactor)
    }
  }

  @discardableResult
  func sql(_ text: String) async throws -> String {
    try await server.psql(text, database: database).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Runs a wiring file.
  func run(_ file: String) async throws { try await server.psql(script: file, database: database) }

  /// As much of schema `tacet` as a wiring file needs, with ids of a plan's types. The file is written for what `tacet migrate`
  /// makes; tests of the service run it there.
  func makeContract(for ids: IDTypes) async throws {
    let (message, conversation, user) = (ids.messages, ids.conversations, ids.users)
    try await sql(
      """
      create schema tacet;
      create function tacet.message_context(message_id \(message))
      returns table (
        conversation_id \(conversation), sender_id \(user), sender_name text, body text, created_at timestamptz,
        read_by \(user)[], prior_read_by \(user)[], prior_touched_at timestamptz
      ) language plpgsql as 'begin end';
      create function tacet.seen_by(conversation_id \(conversation))
      returns table (user_id \(user), last_seen timestamptz, left_at timestamptz) language plpgsql as 'begin end';
      create function tacet.device_tokens(user_id \(user))
      returns table (device_token text, environment text, app text) language plpgsql as 'begin end';
      create function tacet.known_zone(zone text) returns text language sql as 'select zone';
      create function tacet.release_conversation(conversation_id \(conversation), user_id \(user)) returns void
      language sql as 'select';
      create function tacet.grant_service(service regrole) returns void language sql as 'select';
      create function tacet.enqueue_inserted_messages() returns trigger language plpgsql as 'begin return null; end';
      create function tacet.forget_deleted_profiles() returns trigger language plpgsql as 'begin return null; end'
      """)
  }
}

extension WiredHost {
  /// An application with its wiring, and people whose device has a token.
  static func wired(
    _ sample: HostSample, _ prepare: (WiredHost) async throws -> Void = { _ in }
  ) async throws -> WiredHost {
    let host = try await WiredHost(sample.tables)
    let wiring = try await host.wiring(sample.edited(HostProposal.mapping(of: host.schema).text))
    try await host.makeContract(for: wiring.ids)
    try await host.run(wiring.text)
    try await prepare(host)
    try await host.sql(sample.people.replacing("$token", with: "00"))
    return host
  }
}

@Suite("Applications that many people run")
struct HostSampleTests {
  @Test("are understood, with at most two lines to edit, and never silently in part", arguments: HostSample.all)
  func guessed(_ sample: HostSample) async throws {
    let host = try await WiredHost(sample.tables)
    let proposal = try HostProposal.mapping(of: host.schema)
    #expect(sample.edits.count <= 2)
    #expect(proposal.unsure.count == sample.edits.count, "\(proposal.text)")
    #expect(HostEdits.said(sample.edited(proposal.text)) == sample.mapping, "\(proposal.text)")
    #expect(try await host.wiring(sample.edited(proposal.text)).ids.migrateOptions == sample.migrateOptions)
    #expect(!proposal.isDefault)
  }

  @Test("have functions that read their tables, from a file that may run twice", arguments: HostSample.all)
  func read(_ sample: HostSample) async throws {
    let host = try await WiredHost(sample.tables)
    // A role's name may be anything, and roles are shared by all databases of the server.
    let role = "a \"role\" \(UUID())"
    try await host.sql("create role \"\(role.replacing("\"", with: "\"\""))\"")
    let wiring = try await host.wiring(sample.edited(HostProposal.mapping(of: host.schema, role: role).text))
    try await host.makeContract(for: wiring.ids)
    for _ in 1...2 { try await host.run(wiring.text) }
    let again = try HostProposal.mapping(of: try await host.lookAgain())
    #expect(HostEdits.said(sample.edited(again.text)) == sample.mapping)
    // Tokens reach Tacet in lower case; applications store them in either.
    let isOwn = sample.people.contains("register_device")
    let token = String(repeating: isOwn ? "ab" : "aB", count: 32)
    try await host.sql(sample.people.replacing("$token", with: token))
    let message = try await host.sql(sample.message)
    let shown = try await host.sql(
      """
      select conversation_id, coalesce(sender_name, '-'), body, abs(extract(epoch from now() - coalesce(created_at, now()))) < 3600
      from tacet.message_context('\(message)')
      """)
    #expect(shown == "\(sample.conversation)|\(sample.shown.name ?? "-")|\(sample.shown.text)|t")
    let recipients = try await host.sql(
      """
      select s.user_id from tacet.seen_by('\(sample.conversation)') s, tacet.message_context('\(message)') m
      where s.user_id is distinct from m.sender_id
      """)
    #expect(recipients == sample.reader)
    let tokens = "select string_agg(device_token, ',') from tacet.device_tokens('\(sample.reader)')"
    #expect(try await host.sql(tokens) == token.lowercased())
    #expect(try await host.sql("select user_id from tacet.device_token_owners('abab', 5)") == sample.reader)
    for (since, isKept) in [("- interval '9 years'", sample.hasRegistrationTimes), ("+ interval '1 hour'", false)] {
      try await host.sql(
        "select tacet.invalidate_device_token('\(token.lowercased())', 'Unregistered', now() \(since))")
      #expect(try await host.sql(tokens) == (isKept ? token.lowercased() : ""))
    }
  }

  @Test(
    "date a message without a time zone by its insert, wherever the host's sessions are",
    arguments: ["America/Los_Angeles", "Asia/Tokyo"])
  func unzoned(_ zone: String) async throws {
    for sample in HostSample.all where sample.tables.contains("timestamp") {
      let host = try await WiredHost.wired(sample) {
        try await $0.sql(
          "do $$ begin execute format('alter database %I set timezone = %L', current_database(), '\(zone)'); end $$")
      }
      let message = try await host.sql(sample.message)
      let age = "select coalesce(now() - created_at, '0') < '1 h' from tacet.message_context('\(message)')"
      #expect(try await host.sql("set timezone = 'UTC'; \(age)").hasSuffix("t"), "\(sample)")
    }
  }

  @Test("keep back what people did not write or have deleted", arguments: HostSample.all)
  func keptBack(_ sample: HostSample) async throws {
    let host = try await WiredHost.wired(sample)
    try await host.sql(sample.note)
    let table = sample.mapping.split { " \n".contains($0) }[1]
    let pushed = "select count(*) from \(table) t cross join lateral tacet.message_context(t.id) m"
    #expect(try await host.sql(pushed) == "0")
  }

  @Test("take presence from apps", arguments: HostSample.all)
  func presence(_ sample: HostSample) async throws {
    let host = try await WiredHost.wired(sample)
    func report(_ hasLooked: Bool, _ hasLeft: Bool) async throws -> String {
      try await host.sql(
        """
        select is_participant, is_skipped
        from tacet.view_conversations('{\(sample.conversation)}', '{\(sample.reader)}', '{\(hasLooked)}', '{\(hasLeft)}')
        """)
    }
    let seen = """
      select last_seen > now() - interval '1 minute', left_at >= last_seen from tacet.seen_by('\(sample.conversation)')
      where user_id = '\(sample.reader)'
      """
    #expect(try await report(true, false) == "t|f")
    #expect(try await host.sql(seen) == "t|")
    #expect(try await report(false, true) == "t|f")
    #expect(try await host.sql(seen) == "t|t")
    #expect(try await report(true, false) == "t|f")
    #expect(try await host.sql(seen) == "t|")
  }
}

@Suite("What an application hides, wired by tacet init")
struct HiddenRowsTests {
  private let host = HiddenHost.other

  @Test("is not pushed, pushed when it is shown, and named in the summary")
  func pushed() async throws {
    let preparations = HiddenShape.all.map { host.written($0.preparation) }
    let wired = try await WiredHost(host.tables + preparations.joined(separator: ";\n"))
    let mapping = try HostProposal.mapping(of: wired.schema).text
    let wiring = try await wired.wiring(mapping)
    try await wired.makeContract(for: wiring.ids)
    for _ in 1...2 { try await wired.run(wiring.text) }
    func played(_ text: String, _ question: String) async throws -> String {
      try await wired.sql(host.written(text))
      return try await wired.sql(host.written(question))
    }
    let pushes = """
      select count(*)
      from chat_messages x
      cross join lateral tacet.message_context(x.id) m
      cross join lateral tacet.seen_by(m.conversation_id) s
      cross join lateral tacet.device_tokens(s.user_id)
      where s.user_id <> m.sender_id and not tacet.has_blocked(s.user_id, m.sender_id)
      """
    let takesPart = "select tacet.takes_part('$room', '$reader')"
    #expect(try await played(host.people(String(repeating: "0a", count: 32)) + ";" + host.saying, pushes) == "1")
    for shape in HiddenShape.all {
      #expect(try await played(shape.hide, pushes) == "0", "\(shape)")
      let isMember = !HiddenShape.members.contains { $0.testDescription == shape.testDescription }
      #expect(try await played("select", takesPart) == (isMember ? "t" : "f"), "\(shape)")
      #expect(try await played(shape.show, pushes) == "1", "\(shape)")
    }
    #expect(mapping.contains("status hides nothing"))
    #expect(HostEdits.said(mapping).contains("blocks public.user_blocks\nblocker user_id\nblocked blocked_user_id"))
    #expect(!mapping.contains("is not used"))
  }

  @Test("is said where it is not understood")
  func unused() async throws {
    let wired = try await WiredHost(host.tables + host.written(HiddenShape.odd))
    let mapping = try HostProposal.mapping(of: wired.schema)
    for name in ["moderation_level", "hidden_for", "is_ephemeral"] {
      #expect(mapping.text.contains("# \(name) is not used"), "\(name): \(mapping.text)")
    }
    // Of members it is asked about, and a table that is called like one of blocks too.
    let asked = mapping.unsure.map(\.text)
    #expect(asked.count == 3, "\(asked)")
    #expect(asked.contains { $0.contains("is_active may say who takes part") })
    #expect(asked.contains { $0.contains("notification_prefs may say who takes part") })
    #expect(asked.contains { $0.contains("public.blocklist") })
  }

  @Test("a member has left where the application's own column says so, whatever else is there")
  func left() async throws {
    let columns = "alter table room_members add last_seen timestamptz, add left_at timestamptz"
    let wired = try await WiredHost(host.tables + columns)
    let wiring = try await wired.wiring(HostProposal.mapping(of: wired.schema).text)
    try await wired.makeContract(for: wiring.ids)
    try await wired.run(wiring.text)
    try await wired.sql(host.people("0a"))
    let recipients = host.written("select count(*) from tacet.seen_by('$room')")
    #expect(try await wired.sql(recipients) == "2")
    try await wired.sql(host.written("update room_members set left_at = now() where user_id = '$reader'"))
    #expect(try await wired.sql(recipients) == "1")
  }
}

@Suite("A host with hostile names")
struct HostileNamesTests {
  /// Quotes, semicolons, comments, dollar quotes, backslashes and combining marks in each kind of name.
  private static let tables = #"""
    create table y (id int);
    create schema "a""b";
    create table "a""b"."us ers" (id uuid primary key, "na'\#u{301}me" text);
    create table "a""b"."x""\#u{301}; drop table y; -- $$ room participants" (
      "conver""sation_id" uuid, "user\_id" uuid, "last_read;at" timestamptz, primary key ("conver""sation_id", "user\_id"));
    create table "a""b"."chat $$ $body1$ */ messages" (
      id uuid primary key default gen_random_uuid(), "conver""sation_id" uuid, "user\_id" uuid, "bo""\#u{301}dy" text, "TY'PE" text,
      "created at" timestamptz default now());
    create table "a""b"."push '\#u{301} tokens" ("user\_id" uuid, "tok$$\#u{301}en" text, "plat\#u{600}""form" text)
    """#

  @Test("is wired, and its names do nothing but name")
  func wired() async throws {
    let host = try await WiredHost(Self.tables)
    // Its members' name has words that nobody knows, so a person has to say that they are members.
    let proposal = try HostProposal.mapping(of: host.schema)
    #expect(proposal.unsure.count == 1)
    let wiring = try await host.wiring(proposal.text.replacing("? members", with: "members"))
    try await host.makeContract(for: wiring.ids)
    for _ in 1...2 { try await host.run(wiring.text) }
    let (ann, bob, room) = (UUID(), UUID(), UUID())
    let token = String(repeating: "0c", count: 32)
    try await host.sql(
      #"""
      insert into "a""b"."us ers" values ('\#(ann)', 'Ann'), ('\#(bob)', 'Bob');
      insert into "a""b"."x""\#u{301}; drop table y; -- $$ room participants" values ('\#(room)', '\#(ann)', now()), ('\#(room)', '\#(bob)', null);
      insert into "a""b"."push '\#u{301} tokens" values ('\#(bob)', '\#(token)', 'ios')
      """#)
    let message = try await host.sql(
      #"insert into "a""b"."chat $$ $body1$ */ messages" ("conver""sation_id", "user\_id", "bo""\#u{301}dy") "#
        + "values ('\(room)', '\(ann)', 'Hello') returning id")
    #expect(try await host.sql("select sender_name, body from tacet.message_context('\(message)')") == "Ann|Hello")
    #expect(try await host.sql("select count(*) from tacet.seen_by('\(room)')") == "2")
    #expect(try await host.sql("select device_token from tacet.device_tokens('\(bob)')") == token)
    #expect(try await host.sql("select tacet.unread_count('\(bob)')") == "1")
    #expect(try await host.sql("select count(*) from y") == "0")
  }
}
