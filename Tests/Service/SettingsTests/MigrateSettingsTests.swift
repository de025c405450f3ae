import Settings
import Testing

@Suite("The settings of a migration")
struct MigrateSettingsTests {
  private func problems(_ environment: [String: String]) -> [SettingsProblem] {
    do {
      _ = try MigrateSettings(environment: environment, readFile: makeFiles([:]))
      return []
    } catch {
      return error.problems
    }
  }

  @Test("the database is enough")
  func databaseAlone() {
    #expect(problems(["DATABASE_URL": "postgres://h"]).isEmpty)
    #expect(problems([:]).map(\.description) == ["DATABASE_URL is required and not set"])
  }

  @Test("sessions lent by a pooler are not enough, and it says what is")
  func pooler() {
    let found = problems(["DATABASE_URL": "postgres://h", "DATABASE_POOL_MODE": "transaction"])
    #expect(found.map(\.key) == ["DATABASE_POOL_MODE"] && found.map(\.code) == [.conflicting])
    #expect(found.first?.message.contains("DATABASE_URL to the server itself") == true)
    #expect(problems(["DATABASE_URL": "postgres://h", "DATABASE_POOL_MODE": "session"]).isEmpty)
  }

  @Test("values it does not use are not looked at, unknown keys are")
  func others() {
    #expect(problems(["DATABASE_URL": "postgres://h", "REACTORS": "none", "APNS_KEY_ID": "x"]).isEmpty)
    #expect(problems(["DATABASE_URL": "postgres://h", "APNS_KEY": "x"]).map(\.code) == [.unknown])
  }
}
