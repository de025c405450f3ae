import APNSCore
import Testing

@Suite("Push expiration")
struct PushExpirationTests {
  @Test(
    "the header value is never signed, and absent when the service decides",
    arguments: [
      (PushExpiration.attemptOnce, Optional("0")),
      (.until(unixSeconds: 1_790_000_000), "1790000000"),
      (.until(unixSeconds: 0), "0"),
      (.until(unixSeconds: -1), "0"),
      (.servicePolicy, nil),
    ])
  func headerValues(expiration: PushExpiration, value: String?) {
    #expect(expiration.headerValue == value)
  }
}
