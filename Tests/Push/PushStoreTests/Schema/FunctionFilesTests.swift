import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Files of functions", .uuidsOnly)
struct FunctionFilesTests {
  /// The files of the program, and one more.
  private static func files(with text: String) -> [FunctionFile] {
    FunctionFile.all + [FunctionFile(name: "zz_more", text: text)]
  }

  private static let versions = """
    select proname, xmin, oid from pg_proc where pronamespace = 'tacet'::regnamespace order by oid
    """

  @Test("that have not changed are not touched; one that has changed is applied again")
  func changed() async throws {
    let database = try await TestDatabase.empty()
    try await database.migrate(functions: Self.files(with: Self.answer(1)))
    let before = try await database.sql(Self.versions)
    try await database.migrate(functions: Self.files(with: Self.answer(1)))
    #expect(try await database.sql(Self.versions) == before)
    try await database.migrate(functions: Self.files(with: Self.answer(2)))
    #expect(try await database.sql("select tacet.answer()") == "2")
    func others(_ rows: String) -> [Substring] { rows.split(separator: "\n").filter { !$0.hasPrefix("answer|") } }
    #expect(try await others(database.sql(Self.versions)) == others(before))
  }

  private static func answer(_ number: Int) -> String {
    "create or replace function tacet.answer() returns int language sql immutable as 'select \(number)';"
  }

  @Test("that fail change nothing, and are applied by the next run")
  func failing() async throws {
    let database = try await TestDatabase.empty()
    let broken = Self.answer(1) + "select 1 / 0;"
    await #expect(throws: (any Error).self) { try await database.migrate(functions: Self.files(with: broken)) }
    #expect(try await database.sql("select to_regproc('tacet.answer'), to_regproc('tacet.provide')") == "|")
    try await database.migrate(functions: Self.files(with: Self.answer(1)))
    #expect(try await database.sql("select tacet.answer()") == "1")
  }

  @Test("of the host contract never replace what the host has put there, however often they are applied")
  func hosts() async throws {
    let database = try await TestDatabase.empty()
    try await database.migrate()
    try await database.sql(
      "create or replace function tacet.badge_of_host() returns bigint language sql stable as 'select 7::bigint';"
        + "create or replace function tacet.unread_count(user_id uuid) returns bigint language sql stable "
        + "as 'select tacet.badge_of_host()'")
    let version = "select xmin, oid from pg_proc where proname = 'unread_count'"
    let before = try await database.sql(version)
    let touched = FunctionFile.all.map { FunctionFile(name: $0.name, text: $0.text + "\n-- Changed.\n") }
    try await database.migrate(functions: touched)
    #expect(try await database.sql(version) == before)
    #expect(try await database.sql("select tacet.unread_count(gen_random_uuid())") == "7")
  }

  @Test("of campaigns insert each once: what an operator has removed or changed stays so, and a new one comes")
  func campaigns() async throws {
    let database = try await TestDatabase.empty()
    try await database.migrate(functions: FunctionFile.all.filter { $0.name != "campaigns/workout" })
    try await database.sql(
      "delete from tacet.campaigns where name = 'meal'; update tacet.campaigns set weekdays = '{1}' where name = 'coach'"
    )
    let touched = FunctionFile.all.map { FunctionFile(name: $0.name, text: $0.text + "\n-- Changed.\n") }
    try await database.migrate(functions: touched)
    let names = try await database.sql("select string_agg(name, ' ' order by name) from tacet.campaigns")
    #expect(names == "coach hydration lapse morning ritual workout")
    #expect(try await database.sql("select weekdays from tacet.campaigns where name = 'coach'") == "{1}")
  }

  @Test("of the host contract replace every default that Tacet has ever installed")
  func defaults() async throws {
    let database = try await TestDatabase.empty()
    func contract(_ number: Int) -> [FunctionFile] {
      Self.files(
        with: """
          call tacet.provide('taste(uuid)', inert => 'select 0', definition => $default$
          create or replace function tacet.taste(user_id uuid) returns int language sql stable as 'select \(number)'
          $default$);
          """)
    }
    for number in [1, 2, 1] {
      try await database.migrate(functions: contract(number))
      #expect(try await database.sql("select tacet.taste(null)") == "\(number)")
    }
    try await database.sql(
      "create or replace function tacet.taste(user_id uuid) returns int language sql stable as 'select 9'")
    try await database.migrate(functions: contract(3))
    #expect(try await database.sql("select tacet.taste(null)") == "9")
  }

  /// A function with a result, and what a host may build on it.
  private static let dependents = """
    create view public.tastes as select tacet.taste(1) as value;
    create table public.dishes (taste int default tacet.taste(2), name text);
    alter table public.dishes enable row level security;
    create policy tasty on public.dishes using (tacet.taste(3) > 0);
    create function tacet.season() returns trigger language plpgsql as 'begin new.name := ''salted''; return new; end';
    create trigger seasoned before insert on public.dishes for each row execute function tacet.season()
    """

  @Test("change signatures, also where views, defaults, policies and triggers depend on the former ones")
  func signatures() async throws {
    let database = try await TestDatabase.empty()
    func taste(_ result: String, _ more: String = "") -> [FunctionFile] {
      Self.files(
        with: """
          \(more)
          create or replace function tacet.taste(number int) returns \(result) language sql immutable as 'select number';
          """)
    }
    try await database.migrate(functions: taste("int"))
    try await database.sql(Self.dependents)
    await #expect(throws: (any Error).self) { try await database.migrate(functions: taste("bigint")) }
    let retired = "call tacet.retire('taste(int)', 'bigint'); call tacet.retire('season()');"
    for comment in ["", "-- Again."] {
      try await database.migrate(functions: taste("bigint", retired + comment))
    }
    #expect(try await database.sql("select pg_typeof(tacet.taste(1)), (select value from tastes)") == "bigint|1")
    try await database.sql("insert into dishes default values")
    #expect(try await database.sql("select taste, name from dishes") == "2|salted")
    #expect(try await database.sql("select count(*) from pg_policies where policyname = 'tasty'") == "1")
    #expect(try await database.sql("select to_regproc('tacet.season')") == "")
  }

  @Test("change a default's result, and leave nothing of the former one where nothing depends on it")
  func contractSignature() async throws {
    let database = try await TestDatabase.empty()
    for result in ["int", "bigint"] {
      try await database.migrate(
        functions: Self.files(
          with: """
            call tacet.provide('taste(uuid)', definition => $default$
            create or replace function tacet.taste(user_id uuid) returns \(result) language sql stable as 'select 1'
            $default$);
            """))
    }
    #expect(try await database.sql("select pg_typeof(tacet.taste(null))") == "bigint")
    #expect(try await database.sql("select count(*) from pg_proc where proname like 'taste%'") == "1")
  }

  @Test("of psql are applied once more by the next tacet migrate, which changes no body")
  func afterHand() async throws {
    let database = try await TestDatabase.migrated()
    let before = try await Catalog.dump(of: database)
    try await database.migrate()
    #expect(try await Catalog.dump(of: database) == before)
    #expect(try await database.sql("select count(*) from tacet.function_files") == "\(FunctionFile.all.count)")
  }
}

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
