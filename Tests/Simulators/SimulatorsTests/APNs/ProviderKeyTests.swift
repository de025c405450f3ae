import Cryptography
import TestKeys
import Testing

@testable import Simulators

@Suite("Signing keys")
struct ProviderKeyTests {
  @Test("a private and a public PEM text give the same public key, anything else gives none")
  func pem() throws {
    let key = P256PrivateKey()
    for text in [key.pem, key.publicKey.pem] {
      let read = try ProviderKey.publicKey(fromPEM: text)
      #expect(read == key.publicKey)
    }
    #expect(throws: (any Error).self) { try ProviderKey.publicKey(fromPEM: "no key") }
    let foreign = KeyText.elliptic(curve: "P-384")
    #expect(throws: (any Error).self) { try ProviderKey.publicKey(fromPEM: foreign) }
  }
}
