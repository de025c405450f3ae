import Cryptography
import Reactors
import Testing

@testable import Channels

@Suite("The source of provider tokens")
struct ProviderTokenSourceTests {
  /// A source whose token was made so many seconds ago.
  private func source(ageSeconds: Int64, clockSetBy step: Int64 = 0) throws -> ProviderTokenSource {
    let token = ProviderToken.aged(ageSeconds, clockSetBy: step)
    return ProviderTokenSource(try .make(), schedule: ProviderTokenSchedule(draw: 0.5), current: token)
  }

  @Test("the first token is a signed one, for the header field")
  func first() throws {
    let key = P256PrivateKey()
    let token = try ProviderTokenSource(.make(key)).current
    #expect(token.authorization.hasPrefix("bearer "))
    #expect(try SignedToken(String(token.authorization.dropFirst(7))).isSigned(by: key.publicKey))
    #expect(token.age < .seconds(60))
  }

  @Test("a token is renewed when it is due, and by whoever asks first", arguments: [(1700, false), (1800, true)])
  func renewal(age: Int64, isRenewed: Bool) throws {
    let source = try source(ageSeconds: age)
    let old = source.current
    try source.renewIfDue()
    #expect((source.current != old) == isRenewed)
    let new = source.current
    try source.renewIfDue()
    #expect(source.current == new)
  }

  @Test("a token that APNs calls expired is replaced only if it can be", arguments: [(1100, false), (1200, true)])
  func replacing(age: Int64, isReplaced: Bool) throws {
    let source = try source(ageSeconds: age)
    let old = source.current
    #expect(try source.replace(old) == isReplaced)
    #expect((source.current != old) == isReplaced)
  }

  @Test(
    "a token dated by a clock that was set since is replaced at any age, once",
    arguments: [(3600, true), (-3600, true), (60, false)])
  func clockSet(step: Int64, isReplaced: Bool) throws {
    let source = try source(ageSeconds: 30, clockSetBy: step)
    let old = source.current
    #expect(try source.replace(old) == isReplaced)
    let new = source.current
    #expect((new != old) == isReplaced)
    #expect(try source.replace(new) == false)
    try source.renewIfDue()
    #expect(source.current == new)
  }

  @Test("a token that has been replaced already is not replaced again")
  func replacedAlready() throws {
    let source = try source(ageSeconds: 1200)
    let old = source.current
    _ = try source.replace(old)
    let new = source.current
    #expect(try source.replace(old))
    #expect(source.current == new)
    #expect(try source.replace(new) == false)
  }

  @Test("many who find the token expired at once share one new token, and all of them get it")
  func many() async throws {
    let source = try source(ageSeconds: 1200)
    let old = source.current
    let seen = try await withThrowingTaskGroup { group in
      for _ in 0..<100 {
        group.addTask {
          guard try source.replace(old) else { return "not replaced" }
          return source.current.authorization
        }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(seen == [source.current.authorization])
    #expect(source.current != old)
  }
}
