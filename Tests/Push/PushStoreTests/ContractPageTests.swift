import PushRules
import TestIDs
import TestRepository
import Testing

@testable import PushStore

@Suite("The page of the host contract", .uuidsOnly)
struct ContractPageTests {
  @Test("has every function with its arguments, its result and the columns of its rows")
  func functions() async throws {
    let database = try await TestDatabase.migrated()
    let functions = try await database.sql(
      """
      select
        p.proname, pg_get_function_identity_arguments(p.oid), case when 't' = any (p.proargmodes) then ''
          else pg_get_function_result(p.oid) end,
        (select string_agg(format('| `%s` | `%s` |', p.proargnames[n], format_type(p.proallargtypes[n], null)), ';' order by n)
         from generate_subscripts(p.proallargtypes, 1) n where p.proargmodes[n] = 't')
      from pg_proc p
      where p.pronamespace = 'tacet'::regnamespace and p.proname in (select b.name from tacet.default_bodies b)
      order by p.proname
      """
    ).replacing("timestamp with time zone", with: "timestamptz").replacing("integer", with: "int")
    #expect(functions.split(separator: "\n").count == 31)
    let sections = try sections()
    for function in functions.split(separator: "\n") {
      let parts = function.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
      let section = try #require(sections[parts[0]], "\(parts[0])")
      #expect(section.contains("`tacet.\(parts[0])(\(parts[1]))`"), "\(parts[0])")
      if !parts[2].isEmpty { #expect(section.contains("returns `\(parts[2].lowercased())`"), "\(parts[0])") }
      let columns = section.matches(of: /\| `\w+` \| `[^`]+` \|/).map { String($0.output) }
      #expect(columns.joined(separator: ";") == parts[3], "\(parts[0])")
    }
  }

  /// The text under each heading of a function, with lines joined.
  private func sections() throws -> [String: String] {
    let parts = try Repository.text("db/CONTRACT.md").split(separator: "\n### ").dropFirst()
    return Dictionary(
      uniqueKeysWithValues: parts.map { part in
        let name = part.prefix { $0 != "\n" }
        let text = part.dropFirst(name.count).split(separator: "\n").joined(separator: " ")
        return (String(name), text)
      })
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

  static let publicTables = """
    select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1
    """
}
