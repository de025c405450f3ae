import Settings
import Testing

@Suite("Database settings")
struct DatabaseSettingsTests {
  @Test(
    "a URI or a keyword string is passed on as it is",
    arguments: [
      "postgresql://u:p@a,b:5433/db?target_session_attrs=read-write", "postgres://localhost", "host=/run user=tacet",
      "service=tacet",
    ])
  func usable(text: String) throws {
    #expect(try makeSettings(["DATABASE_URL": text]).database.connectionString.exposed == text)
  }

  @Test(
    "sessions are ours unless a pooler is said to lend them",
    arguments: [(nil, "session"), ("Transaction", "transaction")])
  func poolMode(text: String?, mode: String) throws {
    #expect(try makeSettings(["DATABASE_POOL_MODE": text]).database.poolMode.rawValue == mode)
  }

  @Test("anything else is refused", arguments: ["localhost", "mysql://h/db?a=b", "http://h"])
  func unusable(text: String) {
    #expect(problems(["DATABASE_URL": text]).map(\.code) == [.unusable])
  }
}
