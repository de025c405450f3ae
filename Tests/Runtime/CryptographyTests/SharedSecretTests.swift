import Cryptography
import Testing

@Suite("Shared secrets")
struct SharedSecretTests {
  private struct PointCase: Decodable {
    let number: Int
    let note: String
    let result: Verdict
    let point: Hex
    let scalar: Hex
    let secret: Hex
  }

  private struct TextCase: Decodable {
    let number: Int
    let note: String
    let result: Verdict
    let publicKey: String
    let privateKey: String
    let secret: Hex
  }

  @Test("both sides of RFC 5903 section 8.1 agree on its secret")
  func example() throws {
    let initiator = try P256PrivateKey(
      scalar: Hex("C88F01F510D9AC3F70A292DAA2316DE544E9AAB8AFE84049C62A9C57862D1433").bytes)
    let responder = try P256PrivateKey(
      scalar: Hex("C6EF9C5D78AE012A011164ACB397CE2088685D8F06BF9BE0B283AB46476BEE53").bytes)
    let secret = Hex("D6840F6B42F6EDAFD13116E0E12565202FEF8E9ECE7DCE03812464D04B9442DE").bytes
    #expect(try initiator.sharedSecret(with: responder.publicKey) == secret)
    #expect(try responder.sharedSecret(with: initiator.publicKey) == secret)
  }

  @Test("both sides of RFC 8291 appendix A agree on its secret")
  func webPush() throws {
    let server = try P256PrivateKey(scalar: base64URL("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
    let browser = try P256PrivateKey(scalar: base64URL("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
    let point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    #expect(browser.publicKey.x963 == base64URL(point))
    let secret = base64URL("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs")
    #expect(try server.sharedSecret(with: browser.publicKey) == secret)
    #expect(try browser.sharedSecret(with: server.publicKey) == secret)
  }

  @Test("points give the secrets that Project Wycheproof says, or are refused")
  func points() throws {
    let cases: [PointCase] = try VectorFile.read("wycheproof-ecdh_secp256r1_ecpoint")
    #expect(cases.count == 355)
    for one in cases {
      let key = try P256PrivateKey(scalar: one.scalar.bytes)
      let secret = try? key.sharedSecret(with: P256PublicKey(x963: one.point.bytes))
      // The one acceptable case is a compressed point.
      #expect(secret == (one.result == .valid ? one.secret.bytes : nil), "\(one.number): \(one.note)")
    }
  }

  @Test("PEM texts give the secrets that Project Wycheproof says, or are refused")
  func texts() throws {
    let cases: [TextCase] = try VectorFile.read("wycheproof-ecdh_secp256r1_pem")
    #expect(cases.count == 126)
    var accepted: [Int] = []
    for one in cases {
      let key = try P256PrivateKey(pem: one.privateKey)
      let secret = try? key.sharedSecret(with: P256PublicKey(pem: one.publicKey))
      switch one.result {
      case .valid: #expect(secret == one.secret.bytes, "\(one.number): \(one.note)")
      case .invalid: #expect(secret == nil, "\(one.number): \(one.note)")
      case .acceptable:
        #expect(secret == nil || secret == one.secret.bytes, "\(one.number): \(one.note)")
        if secret != nil { accepted.append(one.number) }
      }
    }
    // 2 has a compressed point. OpenSSL reads the BER of the others, which is not DER.
    #expect(accepted == [2, 435, 460, 490])
  }

  @Test("both sides agree for new keys, and other keys have other secrets")
  func newKeys() throws {
    let (one, two, three) = (P256PrivateKey(), P256PrivateKey(), P256PrivateKey())
    let secret = try one.sharedSecret(with: two.publicKey)
    #expect(secret.count == 32)
    #expect(try two.sharedSecret(with: one.publicKey) == secret)
    #expect(try two.sharedSecret(with: three.publicKey) != secret)
  }
}
