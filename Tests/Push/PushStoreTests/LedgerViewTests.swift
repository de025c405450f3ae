import Foundation
import TestIDs
import TestRepository
import Testing

@testable import PushStore

@Suite("The ledger in schema tacet, and the view in its place", .uuidsOnly)
struct LedgerViewTests {
  @Test("a reader of the view gets the rows and the columns that the ledger's own policies and privileges give")
  func readers() async throws {
    let database = try await TestDatabase.migrated()
    let dashboard = try await makeRole(in: database)
    try await database.sql(
      """
      grant select on public.push_log to \(dashboard);
      insert into push_log (user_id, push_type, decision) values
        (gen_random_uuid(), 'message', 'sent'), (gen_random_uuid(), 'news', 'sent')
      """)
    let look = "set role \(dashboard); select push_type from push_log"
    await #expect(throws: (any Error).self) { try await database.sql(look) }
    try await database.sql("grant select on tacet.push_log to \(dashboard)")
    #expect(try await database.sql(look) == "")
    try await database.sql(
      "create policy seen on tacet.push_log for select to \(dashboard) using (push_type = 'message')")
    #expect(try await database.sql(look) == "message")
    try await database.apply(Repository.install)
    #expect(try await database.sql(look) == "message")
  }

  @Test("a relation of the host with this name stays as it is, also when Tacet leaves")
  func hostsOwn() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql(
      """
      create table push_log (user_id uuid); insert into push_log values (gen_random_uuid());
      create table profiles (id uuid primary key)
      """)
    let notices = try await database.apply(Repository.install)
    #expect(notices.contains("there is no view public.push_log, because public.push_log is the host's"))
    let erased = "select count(*) from tacet.user_columns where relation = 'push_log'::regclass"
    #expect(try await database.sql(erased) == "0")
    try await database.apply(Repository.install)
    try await database.apply(Repository.file("db/uninstall.sql"))
    #expect(try await database.sql("select count(*), to_regnamespace('tacet') from push_log") == "1|")
  }
}
