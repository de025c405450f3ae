import Cryptography
import Testing

@Suite("Shared secrets")
struct SharedSecretTests {
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
    let cases: [VectorCase] = try VectorFile.read("wycheproof-ecdh_secp256r1_ecpoint")
    #expect(cases.count == 355)
    for one in cases {
      let key = try P256PrivateKey(scalar: one.scalar)
      let secret = try? key.sharedSecret(with: P256PublicKey(x963: one.point))
      // The one acceptable case is a compressed point.
      #expect(secret == (one.result == .valid ? one.secret : nil), one.label)
    }
  }

  @Test("PEM texts give the secrets that Project Wycheproof says, or are refused")
  func texts() throws {
    let cases: [VectorCase] = try VectorFile.read("wycheproof-ecdh_secp256r1_pem")
    #expect(cases.count == 126)
    var accepted: [Int] = []
    for one in cases {
      let key = try P256PrivateKey(pem: one.text("privateKey"))
      let secret = try? key.sharedSecret(with: P256PublicKey(pem: one.text("publicKey")))
      switch one.result {
      case .valid: #expect(secret == one.secret, one.label)
      case .invalid: #expect(secret == nil, one.label)
      case .acceptable:
        #expect(secret == nil || secret == one.secret, one.label)
        if secret != nil { accepted.append(Int(one.text("number")) ?? 0) }
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

@Suite("X25519")
struct X25519Tests {
  @Test(
    "products are those of RFC 7748 section 5.2",
    arguments: [
      (
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
      ),
      (
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
        "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
      ),
    ])
  func products(_ scalar: String, _ point: String, _ product: String) throws {
    let key = try X25519PrivateKey(scalar: Hex(scalar).bytes)
    #expect(try key.sharedSecret(with: X25519PublicKey(Hex(point).bytes)) == Hex(product).bytes)
  }

  @Test("a thousand rounds of RFC 7748 section 5.2 end where they must")
  func rounds() throws {
    var (k, u) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
    (k[0], u[0]) = (9, 9)
    for round in 1...1000 {
      let product = try X25519PrivateKey(scalar: k).sharedSecret(with: X25519PublicKey(u))
      (k, u) = (product, k)
      if round == 1 { #expect(k == Hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079").bytes) }
    }
    #expect(k == Hex("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51").bytes)
  }

  @Test("new keys differ, keep their scalar, and agree with one another")
  func generated() throws {
    let (one, other) = (X25519PrivateKey(), X25519PrivateKey())
    #expect(one.scalar != other.scalar)
    #expect(try X25519PrivateKey(scalar: one.scalar).publicKey == one.publicKey)
    #expect(try one.sharedSecret(with: other.publicKey) == other.sharedSecret(with: one.publicKey))
  }

  @Test("other lengths are refused", arguments: [0, 31, 33])
  func lengths(_ count: Int) {
    let bytes = [UInt8](repeating: 9, count: count)
    #expect(throws: CryptographyError.self) { try X25519PrivateKey(scalar: bytes) }
    #expect(throws: CryptographyError.self) { try X25519PublicKey(bytes) }
  }

  @Test("a point of low order has no secret with anyone", arguments: [0, 1] as [UInt8])
  func lowOrder(_ first: UInt8) throws {
    let point = try X25519PublicKey([first] + [UInt8](repeating: 0, count: 31))
    #expect(throws: CryptographyError.self) { try X25519PrivateKey().sharedSecret(with: point) }
  }
}
