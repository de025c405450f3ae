import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Ids in SQL")
struct IDFunctionsTests {
  @Test("texts become integers and uuids in the form that the server prints, and otherwise null")
  func casts() async throws {
    let database = try await TestDatabase.migrated()
    let read = try await database.sql(
      """
      select string_agg(coalesce(tacet.bigint_of(t)::text, '-'), ' ' order by place)
      from unnest(array['0', '473', '-1', '9223372036854775807', '-9223372036854775808', '9223372036854775808', '007', '-0', '+1',
        '1.5', ' 1', '', 'a', null]) with ordinality as t (t, place)
      """)
    #expect(read == "0 473 -1 9223372036854775807 -9223372036854775808 - - - - - - - - -")
    let ids = try await database.sql(
      """
      select string_agg((tacet.uuid_of(t) is not null)::text, ' ' order by place)
      from unnest(array['0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11', '0B6F9A52-53C4-4D3C-9D0C-5F2C4F3B8F11',
        '0b6f9a5253c44d3c9d0c5f2c4f3b8f11', '473', '', null]) with ordinality as t (t, place)
      """)
    #expect(ids == "true false false false false false")
  }

  @Test("columns of these types hold ids of those, and an id compares with a column by its index")
  func columns() async throws {
    let database = try await TestDatabase.migrated()
    let held = try await database.sql(
      """
      select string_agg(t.type || '>' || i.ids, ' ' order by i.ids, t.type)
      from unnest(array['int', 'bigint', 'varchar', 'text', 'boolean']) as t (type)
      cross join unnest(array['bigint', 'text']) as i (ids)
      where tacet.holds_ids(t.type::regtype, i.ids::regtype)
      """)
    #expect(held == "bigint>bigint int>bigint text>text varchar>text")
    let any = try await database.sql(
      "select tacet.holds_ids('int', 'text', true), tacet.holds_ids('boolean', 'text', true)")
    #expect(any == "t|f")
    let typed = try await database.sql(
      "select tacet.typed_id('$1', 'text', 'int'), tacet.typed_id('$1', 'text', 'varchar'), tacet.typed_id('$1', 'bigint', 'int')"
    )
    #expect(typed == "tacet.bigint_of($1)|$1|$1")
  }

  @Test(
    "an id as long as ids may be is claimed; a longer one fails its event, and only that",
    .enabled(if: IDTypes.tested.users == .text))
  func lengths() async throws {
    let chat = try await Chat()
    for (length, count) in [(255, 1), (256, 0)] {
      let id = String(repeating: "m", count: length)
      try await chat.database.sql(chat.insertion(of: HostID(text: id)))
      let claimed = try? await claim(chat.database)
      #expect((claimed?.count ?? 0) == count, "\(length)")
    }
  }
}
