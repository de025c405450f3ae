import Foundation
import Operations
import Testing

@Suite("A host with hostile names")
struct HostileNamesTests {
  /// Quotes, semicolons, line breaks, comments, dollar quotes, backslashes and combining marks in each kind of name.
  private static let tables = #"""
    create table y (id int);
    create schema "a""b";
    create table "a""b"."us
    ers" (id uuid primary key, "na'\#u{301}me" text);
    create table "a""b"."x""\#u{301}; drop table y; --
    $$ room participants" (
      "conver""sation_id" uuid, "user\_id" uuid, "last_read;at" timestamptz, primary key ("conver""sation_id", "user\_id"));
    create table "a""b"."chat $$ $body1$ */ messages" (
      id uuid primary key default gen_random_uuid(), "conver""sation_id" uuid, "user\_id" uuid, "bo""\#u{301}dy" text, "TY'PE" text,
      "created at" timestamptz default now());
    create table "a""b"."push '\#u{301} tokens" ("user\_id" uuid, "tok$$\#u{301}en" text, "plat\#u{600}""form" text)
    """#

  @Test("is wired, and its names do nothing but name")
  func wired() async throws {
    let host = try await WiredHost(Self.tables)
    let plan = try WiringPlan(host.schema)
    try await host.makeContract(for: plan)
    for _ in 1...2 { try await host.run(WiringFile(plan).text) }
    let (ann, bob, room) = (UUID(), UUID(), UUID())
    let token = String(repeating: "0c", count: 32)
    try await host.sql(
      #"""
      insert into "a""b"."us
      ers" values ('\#(ann)', 'Ann'), ('\#(bob)', 'Bob');
      insert into "a""b"."x""\#u{301}; drop table y; --
      $$ room participants" values ('\#(room)', '\#(ann)', now()), ('\#(room)', '\#(bob)', null);
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
