import Settings
import Testing

@Suite("Secrets")
struct SecretTests {
  @Test("no way of printing shows the value, the way of asking does")
  func redaction() {
    let secret = Secret("hunter2")
    var dumped = ""
    dump(secret, to: &dumped)
    for text in [
      "\(secret)", secret.description, String(reflecting: secret), "\(Optional(secret) as Any)", "\([secret])", dumped,
    ] {
      #expect(!text.contains("hunter2"))
    }
    #expect(secret.exposed == "hunter2")
  }
}
