import Cryptography
import PushStore
import Testing

@testable import Operations
@testable import Settings

@Suite("Judgements about sealing keys")
struct SealingKeyJudgementTests {
  private static func lines(_ keys: Int, _ settings: String) -> [String] {
    let file = """
      APNS_KEY_ID=KEY0000001
      APNS_TEAM_ID=TEAM000001
      APNS_BUNDLE_ID=com.example.app
      APNS_PRIVATE_KEY=\(P256PrivateKey().pem.replacing("\n", with: #"\n"#))
      \(settings)
      """
    let settings = ExaminedSettings(environment: ["TACET_CONFIG": "/settings"]) { _ in Array(file.utf8) }
    let counts = [DeviceTokenCount(app: "", environment: "", tokens: 40)]
    return SealingKeyCheck.judge(keys, counts, apns: settings.apns).map(\.line)
  }

  @Test("where settings seal, devices without keys show no words; elsewhere nothing is said")
  func lines() {
    #expect(Self.lines(12, "CONTENT=sealed") == ["ok    sealing keys: 12 devices have one; there are 40 device tokens"])
    #expect(Self.lines(0, "[app com.example.coach]\nCONTENT=sealed").first?.hasPrefix("warn  sealing keys: ") == true)
    #expect(Self.lines(0, "CONTENT=none") == [] && Self.lines(0, "") == [])
  }
}
