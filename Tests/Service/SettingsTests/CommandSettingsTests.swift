import Settings
import Testing

@Suite("The settings of commands that only need the database")
struct CommandSettingsTests {
  private func problems(_ environment: [String: String], needsSession: Bool) -> [SettingsProblem] {
    do {
      _ = try CommandSettings(environment: environment, needsSession: needsSession, readFile: makeFiles([:]))
      return []
    } catch {
      return error.problems
    }
  }

  @Test("the database is enough", arguments: [true, false])
  func databaseAlone(needsSession: Bool) {
    #expect(problems(["DATABASE_URL": "postgres://h"], needsSession: needsSession).isEmpty)
    #expect(problems([:], needsSession: needsSession).map(\.description) == ["DATABASE_URL is required and not set"])
  }

  @Test("a look into the database goes through a pooler too")
  func pooled() throws {
    let pooled = try CommandSettings(
      environment: ["DATABASE_URL": "postgres://h", "DATABASE_POOL_MODE": "transaction"], needsSession: false,
      readFile: makeFiles([:]))
    #expect(pooled.database.poolMode == .transaction)
  }

  @Test("for a migration sessions lent by a pooler are not enough, and it says what is")
  func pooler() {
    func found(_ mode: String) -> [SettingsProblem] {
      problems(["DATABASE_URL": "postgres://h", "DATABASE_POOL_MODE": mode], needsSession: true)
    }
    #expect(found("transaction").map(\.key) == ["DATABASE_POOL_MODE"])
    #expect(found("transaction").map(\.code) == [.conflicting])
    #expect(found("transaction").first?.message.contains("DATABASE_URL to the server itself") == true)
    #expect(found("session").isEmpty)
  }

  @Test("values it does not use are not looked at, unknown keys are", arguments: [true, false])
  func others(needsSession: Bool) {
    let usable = ["DATABASE_URL": "postgres://h", "REACTORS": "none", "APNS_KEY_ID": "x"]
    #expect(problems(usable, needsSession: needsSession).isEmpty)
    let unknown = ["DATABASE_URL": "postgres://h", "APNS_KEY": "x"]
    #expect(problems(unknown, needsSession: needsSession).map(\.code) == [.unknown])
  }
}
