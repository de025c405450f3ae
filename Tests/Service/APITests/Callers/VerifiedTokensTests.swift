import Cryptography
import FoundationEssentials
import Testing

@testable import API

@Suite("Verified tokens")
struct VerifiedTokensTests {
  private let user = UUID().uuidString

  private func digest(_ number: Int) -> SHA256Digest { SHA256.hash(Array("\(number)".utf8)) }

  private func insert(_ number: Int, into tokens: VerifiedTokens, expiresAt: Double = 100, keySetGeneration: Int? = nil)
  {
    tokens.insert(
      VerifiedToken(user: user, expiresAt: expiresAt), digest(number), keySetGeneration: keySetGeneration)
  }

  @Test("a token is known until its end, exclusively, and then forgotten")
  func end() {
    let tokens = VerifiedTokens()
    insert(1, into: tokens)
    #expect(tokens.user(of: digest(1), now: 99.9, keySetGeneration: nil) == user)
    #expect(tokens.user(of: digest(2), now: 99.9, keySetGeneration: nil) == nil)
    #expect(tokens.user(of: digest(1), now: 100, keySetGeneration: nil) == nil)
    #expect(tokens.count == 0)
  }

  @Test("a token of a key set is known while that set is, one of the secret whatever the set")
  func generation() {
    let tokens = VerifiedTokens()
    insert(1, into: tokens, keySetGeneration: 1)
    insert(2, into: tokens)
    #expect(tokens.user(of: digest(1), now: 0, keySetGeneration: 1) == user)
    #expect(tokens.user(of: digest(1), now: 0, keySetGeneration: 2) == nil)
    #expect(tokens.user(of: digest(2), now: 0, keySetGeneration: 2) == user)
  }

  @Test("no more than two generations are remembered, and what is in use among them")
  func bound() {
    let tokens = VerifiedTokens(countMax: 10)
    for number in 0..<1000 {
      insert(number, into: tokens)
      #expect(tokens.user(of: digest(0), now: 0, keySetGeneration: nil) == user)
      #expect(tokens.count <= 20)
    }
    #expect(tokens.user(of: digest(1), now: 0, keySetGeneration: nil) == nil)
  }
}
