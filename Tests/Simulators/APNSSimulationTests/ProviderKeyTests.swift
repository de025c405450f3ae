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
