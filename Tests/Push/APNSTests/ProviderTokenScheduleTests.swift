import Testing

@testable import APNS

@Suite("The provider token's schedule")
struct ProviderTokenScheduleTests {
  @Test(
    "each process renews at an age of its own, from 25 to 34 minutes", arguments: [(0, 1500), (0.5, 1770), (1, 2040)])
  func renewal(draw: Double, seconds: Int) {
    let schedule = ProviderTokenSchedule(draw: draw)
    #expect(!schedule.isDue(age: .seconds(seconds - 1), clockStep: .zero))
    #expect(schedule.isDue(age: .seconds(seconds), clockStep: .zero))
  }

  @Test("a token is kept for 20 minutes", arguments: [(0, false), (1199, false), (1200, true), (3600, true)])
  func keeping(seconds: Int, mayReplace: Bool) {
    #expect(ProviderTokenSchedule.mayReplace(age: .seconds(seconds)) == mayReplace)
  }

  @Test(
    "a clock that was set by four minutes makes a token due, and replaceable, at any age",
    arguments: [(0, false), (239, false), (240, true), (-239, false), (-240, true), (3600, true)])
  func clockStep(seconds: Int, isDue: Bool) {
    let schedule = ProviderTokenSchedule(draw: 0)
    #expect(schedule.isDue(age: .zero, clockStep: .seconds(seconds)) == isDue)
    #expect(ProviderTokenSchedule.mayReplace(age: .zero, clockStep: .seconds(seconds)) == isDue)
  }

  @Test("the oldest token ever shown is younger than APNs' limit of an hour, with five minutes to spare")
  func oldest() {
    let look = Duration.seconds(60)
    #expect(ProviderTokenSchedule.renewalAges.latest + look + ProviderTokenSchedule.keepAge <= .seconds(55 * 60))
    #expect(ProviderTokenSchedule.renewalAges.earliest > ProviderTokenSchedule.keepAge)
  }
}
