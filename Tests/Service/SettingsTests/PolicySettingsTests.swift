import PushRules
import Settings
import Testing

@Suite("Suppression settings")
struct SuppressionSettingsTests {
  @Test(
    "the window takes both ends and a fraction",
    arguments: [("0", 0), ("0.25", 250), ("60", 60_000), ("3600", 3_600_000)])
  func window(text: String, milliseconds: Int) throws {
    let policy = try makeSettings(["SUPPRESSION_WINDOW_SECONDS": text]).suppression
    #expect(policy.window == .milliseconds(milliseconds))
    #expect(policy.timeToLive == .seconds(3600))
  }

  @Test("the time to live takes both ends", arguments: [("1", 1), ("2592000", 2_592_000)])
  func timeToLive(text: String, seconds: Int) throws {
    let policy = try makeSettings(["MESSAGE_TTL_SECONDS": text]).suppression
    #expect(policy.timeToLive == .seconds(seconds))
    #expect(policy.window == .seconds(60))
  }
}

@Suite("Folding settings")
struct FoldingSettingsTests {
  @Test(
    "the window takes both ends, is 20 s unless said otherwise, and zero switches folding off",
    arguments: [(nil, 20_000), ("0", nil), ("0.5", 500), ("3600", 3_600_000)] as [(String?, Int?)])
  func window(text: String?, milliseconds: Int?) throws {
    let folding = try makeSettings(text.map { ["FOLD_WINDOW_SECONDS": $0] } ?? [:]).folding
    #expect(folding == milliseconds.map { FoldPolicy(window: .milliseconds($0)) })
  }

  @Test("the window has bounds", arguments: ["-1", "3600.5", "soon"])
  func refused(text: String) {
    #expect(throws: SettingsError.self) { try makeSettings(["FOLD_WINDOW_SECONDS": text]) }
  }
}

@Suite("Retention settings")
struct RetentionSettingsTests {
  @Test("whole days from one to ten years", arguments: [("1", 1), ("14", 14), ("3650", 3650)])
  func days(text: String, days: Int) throws {
    let settings = try makeSettings(["RETENTION_DAYS": text, "MESSAGE_TTL_SECONDS": "1"])
    #expect(settings.retention == max(.seconds(86_400) * days, .seconds(86_401)))
  }

  @Test("two weeks unless set")
  func unset() throws {
    #expect(try makeSettings().retention == .seconds(14 * 86_400))
  }

  @Test(
    "what a message that comes again could still be pushed by is kept a day longer than it could",
    arguments: [("86400", 2 * 86_400), ("86401", 2 * 86_400 + 1), ("86399", 2 * 86_400)])
  func timeToLive(text: String, seconds: Int) throws {
    let settings = try makeSettings(["RETENTION_DAYS": "2", "MESSAGE_TTL_SECONDS": text])
    #expect(settings.retention == .seconds(seconds))
  }
}

@Suite("Shadow settings")
struct ShadowSettingsTests {
  @Test(
    "a switch, or kinds",
    arguments: [
      ("false", .none), ("off", .none), ("true", .all), ("YES", .all), ("1", .all), ("message", .only(["message"])),
      (" coach , message ", .only(["coach", "message"])), ("tree_planted", .only(["tree_planted"])),
    ] as [(String, ShadowedKinds)])
  func known(text: String, shadow: ShadowedKinds) throws {
    #expect(try makeSettings(["SHADOW": text]).shadow == shadow)
  }

  @Test("off unless set")
  func unset() throws { #expect(try makeSettings().shadow == .none) }

  @Test(
    "a mistyped switch is no kind, and a list has kinds alone",
    arguments: ["ture", "tru", "True!", "flase", "fals", "Message", "message,", ",", "a-b", "message coach", "*"])
  func unusable(text: String) {
    #expect(throws: SettingsError.self) { try makeSettings(["SHADOW": text]) }
  }

  @Test("a misspelt name is refused")
  func misspelt() {
    #expect(throws: SettingsError.self) { try makeSettings(["SHADOWS": "true"]) }
  }
}
