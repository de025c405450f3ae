import Testing

@testable import PushPipeline

@Suite("The quarantine of device tokens")
struct TokenQuarantineTests {
  private static let hour: UInt64 = 3_600_000_000_000

  @Test(
    "a token stays for an hour, with its reason; another was never there",
    arguments: [(hour - 1, true), (hour, false)])
  func stay(_ after: UInt64, _ isHeld: Bool) {
    var quarantine = TokenQuarantine()
    quarantine.add("aa", reason: "BadDeviceToken", now: 5)
    #expect(quarantine.holds("aa", now: 5 + after) == isHeld)
    #expect(quarantine.reason(for: "aa") == "BadDeviceToken")
    #expect(!quarantine.holds("bb", now: 5))
  }

  @Test("when APNs takes one of them all are released; one that was never there releases nobody")
  func release() {
    var quarantine = TokenQuarantine()
    quarantine.add("aa", reason: nil, now: 0)
    quarantine.add("bb", reason: nil, now: 0)
    quarantine.accepted("cc")
    #expect(quarantine.count == 2)
    quarantine.accepted("aa")
    #expect(quarantine.count == 0)
  }

  @Test("it is bounded: who would be too many is not kept, and those whose time is over make room")
  func bound() {
    var quarantine = TokenQuarantine()
    for number in 0..<TokenQuarantine.devicesMax { quarantine.add("\(number)", reason: nil, now: 0) }
    quarantine.add("late", reason: nil, now: Self.hour - 1)
    #expect(!quarantine.holds("late", now: Self.hour - 1))
    #expect(quarantine.count == TokenQuarantine.devicesMax)
    quarantine.add("later", reason: nil, now: Self.hour)
    #expect(quarantine.holds("later", now: Self.hour))
    #expect(quarantine.count == 1)
  }
}
