import APNSCore
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
    for environment in APNSEnvironment.allCases {
      #expect(apns.origin(of: environment, .broadcasts) == apns.origin(of: environment))
    }
    #expect(
      apns.channelsOrigin(of: .production) == ServiceOrigin(host: "api-manage-broadcast.push.apple.com", port: 2196))
    #expect(
      apns.channelsOrigin(of: .sandbox)
        == ServiceOrigin(host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195))
    #expect(apns.certificatesFile == nil)
  }

  @Test("broadcasts follow the server of the environment unless they have their own; so do no channels")
  func broadcasts() throws {
    let apns = try makeSettings([
      "APNS_URL": "https://127.0.0.1:1", "APNS_SANDBOX_URL": "https://127.0.0.1:2",
      "APNS_SANDBOX_BROADCAST_URL": "https://127.0.0.1:3", "APNS_CHANNELS_URL": "https://127.0.0.1:4",
      "APNS_SANDBOX_CHANNELS_URL": "https://127.0.0.1:5",
    ]).apns
    #expect(apns.origin(of: .production, .broadcasts) == ServiceOrigin(host: "127.0.0.1", port: 1))
    #expect(apns.origin(of: .sandbox, .broadcasts) == ServiceOrigin(host: "127.0.0.1", port: 3))
    #expect(apns.origin(of: .sandbox, .devices) == ServiceOrigin(host: "127.0.0.1", port: 2))
    #expect(apns.channelsOrigin(of: .production) == ServiceOrigin(host: "127.0.0.1", port: 4))
    #expect(apns.channelsOrigin(of: .sandbox) == ServiceOrigin(host: "127.0.0.1", port: 5))
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
