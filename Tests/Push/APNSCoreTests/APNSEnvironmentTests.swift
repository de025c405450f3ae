import APNSCore
import Testing

@Suite("The two push services")
struct APNSEnvironmentTests {
  @Test("each has Apple's host and its name in the settings")
  func hosts() {
    #expect(APNSEnvironment(rawValue: "production")?.hostName == "api.push.apple.com")
    #expect(APNSEnvironment(rawValue: "sandbox")?.hostName == "api.sandbox.push.apple.com")
  }
}
