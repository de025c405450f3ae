import Settings
import Testing

@Suite("The settings of a look into the database")
struct ExplainSettingsTests {
  private func problems(_ environment: [String: String]) -> [SettingsProblem] {
    do {
      _ = try ExplainSettings(environment: environment, readFile: makeFiles([:]))
      return []
    } catch {
      return error.problems
    }
  }

  @Test("the database is enough, through a pooler too")
  func databaseAlone() throws {
    #expect(problems(["DATABASE_URL": "postgres://h"]).isEmpty)
    let pooled = try ExplainSettings(
      environment: ["DATABASE_URL": "postgres://h", "DATABASE_POOL_MODE": "transaction"], readFile: makeFiles([:]))
    #expect(pooled.database.poolMode == .transaction)
    #expect(problems([:]).map(\.description) == ["DATABASE_URL is required and not set"])
  }

  @Test("values it does not use are not looked at, unknown keys are")
  func others() {
    #expect(problems(["DATABASE_URL": "postgres://h", "REACTORS": "none", "APNS_KEY_ID": "x"]).isEmpty)
    #expect(problems(["DATABASE_URL": "postgres://h", "APNS_KEY": "x"]).map(\.code) == [.unknown])
  }
}
