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

  @Test("the service polls unless the database may sleep, after a minute by default")
  func idle() throws {
    let standard = try makeSettings([:]).database
    #expect(standard.idleMode == .poll && standard.idleTime == .seconds(60))
    let settings = try makeSettings(["IDLE_MODE": "Webhook", "IDLE_SECONDS": "1"]).database
    #expect(settings.idleMode == .webhook && settings.idleTime == .seconds(1))
    #expect(try makeSettings(["IDLE_SECONDS": "3600"]).database.idleTime == .seconds(3600))
    for bad in [["IDLE_MODE": "never"], ["IDLE_SECONDS": "0"], ["IDLE_SECONDS": "3601"]] {
      #expect(problems(bad).map(\.code) == [.unusable])
    }
  }

  @Test(
    "anything else is refused, and not repeated",
    arguments: [
      "localhost", "mysql://h/db?a=b", "http://h", "postgresql://u:hunter2@h/d?pgbouncer=true",
      "postgresql://u:hunter2@h/d?sslmode=no-verify", "postgresql://u:p@hunter2@h/d", "postgresql://u:hunter2/x@h/d",
    ])
  func unusable(text: String) {
    let found = problems(["DATABASE_URL": text])
    #expect(found.map(\.code) == [.unusable])
    #expect(found.allSatisfy { !$0.description.contains("hunter2") })
  }
}
