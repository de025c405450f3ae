import Cryptography
import Testing

@testable import API

@Suite("Tokens of service workers")
struct WorkerTokensTests {
  private static func tokens(_ secrets: String...) -> WorkerTokens {
    WebhookAuthentication(secrets.map { .init(bearer: $0, signingKey: Array($0.utf8)) }).workerTokens
  }

  @Test("one that was made with a secret is known with it, also beside a newer one, and by nobody else")
  func rotation() {
    let token = Self.tokens("old").make()
    #expect(token.utf8.count == 43)
    #expect(Self.tokens("old").accepts(token) && Self.tokens("new", "old").accepts(token))
    #expect(!Self.tokens("new").accepts(token) && !Self.tokens().accepts(token))
    #expect(Self.tokens("old").make() != token)
  }

  @Test("no other text is one, and no token with another bit")
  func others() throws {
    let tokens = Self.tokens("secret")
    let bytes = try #require(Base64URL.decode(tokens.make().utf8))
    #expect(tokens.accepts(Base64URL.encode(bytes)))
    for bit in 0..<256 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(!tokens.accepts(Base64URL.encode(changed)))
    }
    for text in [
      "", "secret", String(repeating: "A", count: 43), Base64URL.encode(bytes + [0]),
      Base64URL.encode(bytes.dropLast()),
    ] {
      #expect(!tokens.accepts(text))
    }
  }
}
