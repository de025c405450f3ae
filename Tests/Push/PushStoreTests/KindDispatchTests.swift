import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Functions of all kinds", .uuidsOnly)
struct KindDispatchTests {
  /// Two kinds: one whose events have its name, and one for names that others choose, which knows one name.
  private static func database() async throws -> TestDatabase {
    let database = try await TestDatabase.migrated()
    for (name, kind, condition) in [("named", "'named'", "true"), ("alpha", "null", "event_kind = 'chosen'")] {
      try await database.sql(
        """
        create function tacet.\(name)_content(event_kind text, subject_id uuid) returns setof tacet.push_content
        language sql stable as $$
          select
            null::uuid, null::uuid, null::timestamptz, interval '1 minute', null::text, null::text, null::text,
            null::boolean, '{"title": "\(name)"}'::json
          where \(condition)
        $$;
        create function tacet.\(name)_audience(event_kind text, subject_id uuid, surface_id uuid)
        returns setof tacet.push_recipient language sql stable as $$
          select '\(HostID.new())'::uuid, null::timestamptz, null::timestamptz
        $$;
        call tacet.register_kind('\(name)', \(kind), 'tacet.\(name)_content', 'tacet.\(name)_audience')
        """)
    }
    return database
  }

  @Test(
    "content comes from the kind of the event's name, else from the first kind that knows the event",
    arguments: [
      ("named", "named|60000000|f|{\"title\": \"named\"}"), ("chosen", "alpha|60000000|f|{\"title\": \"alpha\"}"),
      ("unknown", ""), ("read_sync", ""),
    ])
  func content(_ kind: String, _ content: String) async throws {
    let database = try await Self.database()
    let found = try await database.sql(
      "select push_kind, life_us, is_silent, content from tacet.event_content('\(kind)', gen_random_uuid())")
    #expect(found == content)
  }

  @Test(
    "recipients come from the kind alone",
    arguments: [("'named'", "1"), ("'alpha'", "1"), ("'message'", "0"), ("null", "0")])
  func audience(_ kind: String, _ count: String) async throws {
    let database = try await Self.database()
    let found = try await database.sql(
      "select count(*) from tacet.event_audience(\(kind), 'x', gen_random_uuid(), gen_random_uuid())")
    #expect(found == count)
  }

  @Test("a kind that is registered again has its new functions, and one that was taken out has none")
  func replaced() async throws {
    let database = try await Self.database()
    try await database.sql("call tacet.register_kind('named', 'other', 'tacet.named_content', 'tacet.named_audience')")
    let content = "select count(*) from tacet.event_content('%', gen_random_uuid())"
    #expect(try await database.sql(content.replacing("%", with: "other")) == "1")
    #expect(try await database.sql(content.replacing("%", with: "named")) == "0")
    try await database.sql("delete from tacet.push_kinds where name = 'named'; call tacet.join_kinds()")
    #expect(try await database.sql(content.replacing("%", with: "other")) == "0")
  }
}
