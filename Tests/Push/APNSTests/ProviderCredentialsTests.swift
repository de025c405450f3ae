import Crypto
import Testing

@testable import APNS

@Suite("Provider credentials")
struct ProviderCredentialsTests {
  @Test("a token says which key and which team, when, and nothing else; its signature is the key's")
  func token() async throws {
    let key = P256.Signing.PrivateKey()
    let token = try SignedToken(try await ProviderCredentials.make(key).sign(issuedAt: 1_700_000_000))
    #expect(token.header["alg"] == "ES256")
    #expect(token.header["kid"] == "ABC123DEFG")
    #expect(Set(token.header.keys).isSubset(of: ["alg", "kid", "typ"]))
    #expect(token.claims == ["iss": .text("DEF123GHIJ"), "iat": .number(1_700_000_000)])
    #expect(try token.isSigned(by: key.publicKey))
    #expect(try !token.isSigned(by: P256.Signing.PrivateKey().publicKey))
  }

  @Test("a key with line ends of another system is read as well")
  func lineEnds() throws {
    let pem = P256.Signing.PrivateKey().pemRepresentation.split(separator: "\n").joined(separator: "\r\n")
    #expect(throws: Never.self) {
      try ProviderCredentials(keyIdentifier: "K", teamIdentifier: "T", privateKey: pem + "\r\n")
    }
  }

  @Test(
    "a key that is none is refused, and the error repeats nothing of it",
    arguments: [
      "", "secret", "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----",
      P384.Signing.PrivateKey().pemRepresentation, P256.Signing.PrivateKey().publicKey.pemRepresentation,
      "-----BEGIN PRIVATE KEY-----\n",
    ])
  func badKey(pem: String) {
    #expect {
      try ProviderCredentials(keyIdentifier: "K", teamIdentifier: "T", privateKey: pem)
    } throws: { error in
      let text = "\(error)"
      return !text.isEmpty && !text.contains("secret") && !text.contains("BEGIN PRIVATE KEY-----\n")
    }
  }
}
