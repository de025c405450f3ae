import Foundation
import TestIDs
import TestRepository
import Testing

@testable import PushStore

@Suite("The files of db/examples", .uuidsOnly)
struct ExampleTests {
  /// Those of the host contract, which has tests, and a role of the cluster.
  private static let others: Set<String> = ["contract.sql", "contract_tables.sql", "service_role.sql"]

  /// Their tables come first, because other examples read them.
  private static let tables = ["coach.sql", "engagement.sql"]

  private static let all =
    tables
    + Repository.files(in: "db/examples", ending: "sql").map(\.lastPathComponent)
    .filter { !others.contains($0) && !tables.contains($0) }

  @Test("can be applied one after the other, and again")
  func applied() async throws {
    let database = try await TestDatabase.migrated()
    #expect(Self.all.count >= 9)
    for name in Self.all + Self.all {
      try await database.sql(Repository.text("db/examples/\(name)"))
    }
    #expect(try await database.sql("select count(*) from tacet.campaigns where name = 'evening'") == "1")
    #expect(try await database.sql("select count(*) from tacet.watched_activities") == "1")
  }
}
