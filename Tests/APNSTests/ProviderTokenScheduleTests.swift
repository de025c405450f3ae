import Testing

@testable import APNS

@Suite("The provider token's schedule")
struct ProviderTokenScheduleTests {
  @Test("a token is renewed at 35 minutes", arguments: [(0, false), (2099, false), (2100, true), (3600, true)])
  func renewal(seconds: Int, isDue: Bool) {
    #expect(ProviderTokenSchedule.isDue(age: .seconds(seconds)) == isDue)
  }

  @Test("a token is kept for 20 minutes", arguments: [(0, false), (1199, false), (1200, true), (3600, true)])
  func keeping(seconds: Int, mayReplace: Bool) {
    #expect(ProviderTokenSchedule.mayReplace(age: .seconds(seconds)) == mayReplace)
  }

  @Test("the oldest token ever shown is younger than APNs' limit of an hour, with five minutes to spare")
  func oldest() {
    #expect(ProviderTokenSchedule.renewalAge + ProviderTokenSchedule.keepAge <= .seconds(55 * 60))
  }
}
