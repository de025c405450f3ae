import Cryptography
import Reactors
import TestKeys
import Testing

@testable import Channels

@Suite("Provider credentials")
struct ProviderCredentialsTests {
  @Test("a token says which key and which team, when, and nothing else; its signature is the key's")
  func token() throws {
    let key = P256PrivateKey()
    let token = try SignedToken(ProviderCredentials.make(key).sign(issuedAt: 1_700_000_000))
    #expect(token.header["alg"] == "ES256")
    #expect(token.header["kid"] == "ABC123DEFG")
    #expect(Set(token.header.keys).isSubset(of: ["alg", "kid"]))
    #expect(token.claims == ["iss": .text("DEF123GHIJ"), "iat": .number(1_700_000_000)])
    #expect(token.isSigned(by: key.publicKey))
    #expect(!token.isSigned(by: P256PrivateKey().publicKey))
  }

  @Test("a key with line ends of another system is read as well")
  func lineEnds() throws {
    let pem = P256PrivateKey().pem.split(separator: "\n").joined(separator: "\r\n")
    #expect(throws: Never.self) {
      try ProviderCredentials(keyIdentifier: "K", teamIdentifier: "T", privateKey: pem + "\r\n")
    }
  }

  @Test(
    "a key that is none is refused, and the error repeats nothing of it",
    arguments: [
      "", "secret", "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----",
      KeyText.elliptic(curve: "P-384"), P256PrivateKey().publicKey.pem,
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

@Suite("The provider token's schedule")
struct ProviderTokenScheduleTests {
  @Test(
    "each process renews at an age of its own, from 25 to 34 minutes", arguments: [(0, 1500), (0.5, 1770), (1, 2040)])
  func renewal(draw: Double, seconds: Int) {
    let schedule = ProviderTokenSchedule(draw: draw)
    #expect(!schedule.isDue(age: .seconds(seconds - 1), clockStep: .zero))
    #expect(schedule.isDue(age: .seconds(seconds), clockStep: .zero))
  }

  @Test("a token is kept for 20 minutes", arguments: [(0, false), (1199, false), (1200, true), (3600, true)])
  func keeping(seconds: Int, mayReplace: Bool) {
    #expect(ProviderTokenSchedule.mayReplace(age: .seconds(seconds)) == mayReplace)
  }

  @Test(
    "a clock that was set by four minutes makes a token due, and replaceable, at any age",
    arguments: [(0, false), (239, false), (240, true), (-239, false), (-240, true), (3600, true)])
  func clockStep(seconds: Int, isDue: Bool) {
    let schedule = ProviderTokenSchedule(draw: 0)
    #expect(schedule.isDue(age: .zero, clockStep: .seconds(seconds)) == isDue)
    #expect(ProviderTokenSchedule.mayReplace(age: .zero, clockStep: .seconds(seconds)) == isDue)
  }

  @Test("the oldest token ever shown is younger than APNs' limit of an hour, with five minutes to spare")
  func oldest() {
    let look = Duration.seconds(60)
    #expect(ProviderTokenSchedule.renewalAges.latest + look + ProviderTokenSchedule.keepAge <= .seconds(55 * 60))
    #expect(ProviderTokenSchedule.renewalAges.earliest > ProviderTokenSchedule.keepAge)
  }
}

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

@Suite("The token a connection shows")
struct ShownTokenTests {
  private static let minute: UInt64 = 60_000_000_000
  private let first = ProviderToken(authorization: "bearer first", mintedAt: 0, issuedAt: 0)
  private let second = ProviderToken(authorization: "bearer second", mintedAt: 1, issuedAt: 0)

  @Test(
    "it moves to a newer one after 20 minutes, not before",
    arguments: [(0, false), (19, false), (20, true), (99, true)])
  func adopting(minutes: UInt64, isAdopted: Bool) {
    var shown = ShownToken(first, now: 1000)
    shown.adopt(second, now: 1000 + minutes * Self.minute)
    #expect(shown.token == (isAdopted ? second : first))
  }

  @Test("the same token is shown on and does not begin anew")
  func same() {
    var shown = ShownToken(first, now: 0)
    shown.adopt(first, now: 19 * Self.minute)
    #expect(!shown.hasChanged)
    shown.adopt(second, now: 20 * Self.minute)
    #expect(shown.token == second)
    #expect(shown.hasChanged)
  }

  @Test("after a change the next one waits its 20 minutes again")
  func twice() {
    let third = ProviderToken(authorization: "bearer third", mintedAt: 2, issuedAt: 0)
    var shown = ShownToken(first, now: 0)
    shown.adopt(second, now: 20 * Self.minute)
    shown.adopt(third, now: 40 * Self.minute - 1)
    #expect(shown.token == second)
    shown.adopt(third, now: 40 * Self.minute)
    #expect(shown.token == third)
  }
}
