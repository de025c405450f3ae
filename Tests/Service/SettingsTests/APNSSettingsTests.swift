import PushRules
import Settings
import Testing

@Suite("APNs settings")
struct APNSSettingsTests {
  @Test("without addresses both services are Apple's, and tokens are production's")
  func defaults() throws {
    let apns = try makeSettings().apns
    #expect(apns.defaultApp.key.keyIdentifier == "ABC123DEFG")
    #expect(apns.defaultApp.key.teamIdentifier == "DEF123GHIJ")
    #expect(apns.defaultApp.bundleIdentifier.text == "com.example.app")
    #expect(apns.defaultApp.environment == .production)
    #expect(apns.origin(of: .production) == ServiceOrigin(host: "api.push.apple.com"))
    #expect(apns.origin(of: .sandbox) == ServiceOrigin(host: "api.sandbox.push.apple.com"))
    #expect(apns.certificatesFile == nil)
  }

  @Test("each service can be elsewhere")
  func elsewhere() throws {
    let apns = try makeSettings([
      "APNS_ENVIRONMENT": "sandbox", "APNS_URL": "https://127.0.0.1:2197", "APNS_SANDBOX_URL": "https://127.0.0.1:2198",
    ]).apns
    #expect(apns.defaultApp.environment == .sandbox)
    #expect(apns.origin(of: .production) == ServiceOrigin(host: "127.0.0.1", port: 2197))
    #expect(apns.origin(of: .sandbox) == ServiceOrigin(host: "127.0.0.1", port: 2198))
  }
}
