import APNS
import APNSCore
import PushStore
import Testing

@testable import Doctor

@Suite("Judgements about Live Activities")
struct LiveActivityJudgementTests {
  private static let route = PushRoute(app: try! BundleIdentifier("com.example.app"), environment: .production)

  private static func channel(
    _ name: String, _ id: String?, goneBecause: String? = nil, isUndecided: Bool = false
  ) -> ExaminedChannel {
    ExaminedChannel(name: name, channelID: id, goneBecause: goneBecause, isUndecided: isUndecided)
  }

  @Test("a type without a fault is named, one with a fault fails")
  func types() {
    #expect(ActivityTypeCheck.judge([ExaminedActivityType(name: "Run")]).map(\.line) == ["ok    activity types: Run"])
    let faulty = ActivityTypeCheck.judge([
      ExaminedActivityType(name: "Run"), ExaminedActivityType(name: "Meal", fault: "state needs the field a"),
    ])
    #expect(faulty.map(\.verdict) == [.failure] && faulty[0].found == "Meal: state needs the field a")
  }

  @Test(
    "channels that Apple has too are well; each side may lack some",
    arguments: [
      ([channel("a", "AAAA")], ["AAAA"], [.ok], "1, and Apple lists the same"),
      ([channel("a", "AAAA")], [], [.failure], "Apple no longer has a: nobody gets their states"),
      (
        [channel("a", "AAAA", goneBecause: "ChannelNotRegistered")], ["AAAA"], [.failure],
        "Apple no longer has a: nobody gets their states"
      ),
      (
        [channel("a", "AAAA")], ["AAAA", "BBBB"], [.warning],
        "Apple lists 1 that this database does not know: of another service, or made without an answer"
      ),
      (
        [channel("a", nil, isUndecided: true)], ["BBBB"], [.warning, .warning],
        "Apple was asked to make a, and nobody knows whether it did"
      ),
      ([channel("a", nil)], [], [.ok], "1, and Apple lists the same"),
      (
        (1...7).map { channel("c\($0)", "AAA\($0)") }, [], [.failure],
        "Apple no longer has c1, c2, c3, c4, c5 and 2 more: nobody gets their states"
      ),
    ] as [([ExaminedChannel], [String], [CheckFinding.Verdict], String)])
  func channels(
    _ channels: [ExaminedChannel], _ listed: [String], _ verdicts: [CheckFinding.Verdict], _ words: String
  ) throws {
    let findings = ChannelCheck.judge(
      channels, listed: .success(try listed.map(ChannelIdentifier.init)), of: Self.route)
    #expect(findings.map(\.verdict) == verdicts)
    #expect(findings.first?.found == words && findings.first?.name == "channels com.example.app/production")
  }
}
