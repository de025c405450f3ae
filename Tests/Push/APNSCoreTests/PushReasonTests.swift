import APNSCore
import Testing

@Suite("APNs reasons")
struct PushReasonTests {
  @Test(
    "two reasons cast doubt on the token, no other does",
    arguments: [
      ("BadDeviceToken", true), ("DeviceTokenNotForTopic", true), ("Unregistered", false), ("TopicDisallowed", false),
      ("baddevicetoken", false),
    ])
  func suspicion(reason: String, suspects: Bool) {
    #expect(PushReason(rawValue: reason).suspectsDeviceToken == suspects)
  }
}
