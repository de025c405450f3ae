import Foundation
import Operations
import Testing

@Suite("A mapping that is played before it is believed")
struct PlayedMappingTests {
  private static let (ann, bob) = ("00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b")
  private static let tables = """
    create table users (id uuid primary key, name text);
    create table room_members (room_id int, user_id uuid references users, muted boolean, primary key (room_id, user_id));
    create table messages (
      id int generated always as identity primary key, room_id int not null, sender_id uuid not null references users, body text,
      client_key text unique, length int generated always as (length(body)) stored, created_at timestamptz not null default now());
    insert into users values ('\(ann)', 'Ann'), ('\(bob)', 'Bob');
    insert into room_members values (9, '\(ann)', false), (9, '\(bob)', true);
    insert into messages (room_id, sender_id, body, client_key) values (9, '\(ann)', 'Hello', 'k');
    alter table messages enable row level security
    """

  @Test("says what the application's role may not insert, and what the service's role does not see")
  func roles() async throws {
    let host = try await WiredHost(Self.tables)
    let suffix = UUID().uuidString.prefix(8).lowercased()
    let (app, service) = ("app-\(suffix)", "service_\(suffix)")
    try await host.sql("create role \"\(app)\"; create role \(service)")
    let wiring = try await host.wiring(HostProposal.mapping(of: host.schema, role: service).text)
    func played() async throws -> String {
      try await host.check(wiring, appRole: app).joined(separator: "\n")
    }
    let refused = try await played()
    #expect(
      refused.contains("warning: \(app) cannot insert a copy of the newest message: permission denied"), "\(refused)")
    #expect(refused.contains("warning: \(service) cannot read all of it: permission denied"), "\(refused)")
    #expect(refused.contains("not \(Self.bob): not: muted is not true"), "\(refused)")
    try await host.sql(
      """
      grant insert on messages to "\(app)";
      create policy own on messages for insert to "\(app)"
        with check (sender_id::text = current_setting('request.jwt.claims', true)::jsonb ->> 'sub');
      grant select on messages, users, room_members to \(service);
      update room_members set muted = false
      """)
    let unseen = try await played()
    #expect(unseen.contains("as \(app): inserts a copy of the newest message"), "\(unseen)")
    let parts = unseen.components(separatedBy: "as \(service):")
    #expect(parts.first?.contains("message -") == true && parts.first?.contains("1 of 2 people would get it") == true)
    #expect(parts.last?.contains("warning: what was inserted is not seen") == true, "\(unseen)")
    try await host.makeContract(for: wiring.ids)
    try await host.run(wiring.text)
    let seen = try await played()
    #expect(seen.components(separatedBy: "as \(service):").last?.contains("message -") == true, "\(seen)")
    #expect(!seen.contains("is not seen"), "\(seen)")
    #expect(try await host.sql("select count(*) from messages") == "1")
    #expect(try await host.sql("select count(*) from pg_proc where proname = 'played'") == "0")
  }

  @Test("takes the sample of the last analysis, and goes without one before")
  func sampled() async throws {
    let host = try await WiredHost(Self.tables + "; alter table messages rename body to summary")
    func text(_ schema: HostSchema) throws -> String? {
      try HostProposal.mapping(of: schema).unsure.map(\.text).first { $0.hasPrefix("? text") }
    }
    #expect(try text(host.schema)?.contains("no name says which column is the text") == true)
    try await host.sql("update messages set summary = repeat('a', 83); analyze messages")
    let sampled = try text(try await host.lookAgain())
    #expect(sampled?.contains(" summary ") == true, "\(sampled ?? "")")
    #expect(sampled?.contains("# the widest text of the sample, 84 bytes") == true, "\(sampled ?? "")")
  }

  @Test("says that there is no message to copy")
  func empty() async throws {
    let host = try await WiredHost(Self.tables)
    let app = "app_\(UUID().uuidString.prefix(8).lowercased())"
    try await host.sql("delete from messages; create role \(app); grant insert on messages to \(app)")
    let wiring = try await host.wiring(HostProposal.mapping(of: host.schema).text)
    let lines = try await host.check(wiring, appRole: app)
    #expect(lines.first == "as \(app): no message is there to copy", "\(lines)")
    #expect(lines.dropFirst().first?.hasPrefix("no message is there that would be pushed") == true, "\(lines)")
  }
}
