import Cryptography
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
