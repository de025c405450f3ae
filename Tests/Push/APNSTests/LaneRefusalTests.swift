import APNSCore
import Testing

@testable import APNS

@Suite("Why a lane is refused")
struct LaneRefusalTests {
  private func words(_ reason: PushReason?, age seconds: Int = 12, clock: Int64? = nil) -> String {
    let difference = clock.flatMap { ClockDifference(date: "Thu, 01 Jan 1970 02:00:00 GMT", now: 7200 + $0) }
    return LaneRefusal(
      PushAnswer(status: 403, reason: reason), tokenAge: .seconds(seconds), clock: difference
    ).words
  }

  @Test("a young token that is called expired is the clock's fault, by how much the answer's date tells")
  func expired() {
    let fact = "APNs calls a provider token expired that was signed 12 s ago"
    #expect(
      words("ExpiredProviderToken", clock: -3720) == "\(fact): this machine's clock is 3720 s behind that of APNs")
    let guess = "this machine's clock seems to be at least 3588 s behind that of APNs"
    #expect(words("ExpiredProviderToken") == "\(fact): \(guess)")
    #expect(words("ExpiredProviderToken", clock: 5) == "\(fact): \(guess)")
  }

  @Test("an old token that is called expired says nothing of the clock")
  func old() {
    #expect(
      words("ExpiredProviderToken", age: 3600)
        == "APNs calls a provider token expired that was signed 3600 s ago")
  }

  @Test("an invalid token may be the clock's fault too")
  func invalid() {
    let fact = "APNs refuses the provider token (InvalidProviderToken)"
    #expect(
      words("InvalidProviderToken", clock: 7300) == "\(fact): this machine's clock is 7300 s ahead of that of APNs")
    #expect(
      words("InvalidProviderToken", clock: 0)
        == "\(fact): the key, its identifier, the team's identifier or this machine's clock is wrong")
  }

  @Test("other words are passed on")
  func others() {
    #expect(words("TopicDisallowed") == "APNs refuses the pushes: TopicDisallowed")
    #expect(words(nil) == "APNs refuses the pushes: http_403")
  }
}
