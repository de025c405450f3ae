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
