import Crypto
import Testing

@testable import APNSSimulation

@Suite("Signing keys")
struct ProviderKeyTests {
  @Test("a private and a public PEM text give the same public key, anything else gives none")
  func pem() throws {
    let key = P256.Signing.PrivateKey()
    for text in [key.pemRepresentation, key.publicKey.pemRepresentation] {
      let read = try ProviderKey.publicKey(fromPEM: text)
      #expect(read.rawRepresentation == key.publicKey.rawRepresentation)
    }
    #expect(throws: (any Error).self) { try ProviderKey.publicKey(fromPEM: "no key") }
    let foreign = P384.Signing.PrivateKey().pemRepresentation
    #expect(throws: (any Error).self) { try ProviderKey.publicKey(fromPEM: foreign) }
  }
}

@Suite("Base64 for URLs")
struct Base64URLTests {
  @Test(
    "text becomes bytes",
    arguments: [("", []), ("AA", [0]), ("AAE", [0, 1]), ("AAEC", [0, 1, 2]), ("-_-_", [0xFB, 0xFF, 0xBF])])
  func decodes(_ text: String, _ bytes: [UInt8]) {
    #expect(Base64URL.decode(text) == bytes)
  }

  @Test(
    "padding, the other alphabet and impossible lengths are refused", arguments: ["AA==", "+/AA", "A", "AAAAA", "A A"])
  func refuses(_ text: String) {
    #expect(Base64URL.decode(text) == nil)
  }
}
