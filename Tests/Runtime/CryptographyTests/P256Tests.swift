import Cryptography
import TestKeys
import Testing

@Suite("P-256 private keys")
struct P256PrivateKeyTests {
  private static let order = Hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551").bytes

  @Test("the key of RFC 6979 section A.2.5 has its point, and its signatures verify")
  func deterministicExample() throws {
    let key = try P256PrivateKey(
      scalar: Hex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721").bytes)
    let x: Hex = "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
    let y: Hex = "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"
    #expect(key.publicKey.x963 == [4] + x.bytes + y.bytes)
    let r: Hex = "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
    let s: Hex = "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
    let signature = try #require(ES256Signature(raw: r.bytes + s.bytes))
    #expect(key.publicKey.verifies(signature, of: ascii("sample")))
    #expect(!key.publicKey.verifies(signature, of: ascii("test")))
  }

  @Test("the private key of RFC 7515 section A.3 has its public half")
  func jwsExample() throws {
    let example = try JWSExamples.read().ES256
    let key = try P256PrivateKey(scalar: base64URL(example.d))
    #expect(key.publicKey == (try P256PublicKey(x: base64URL(example.x), y: base64URL(example.y))))
    #expect(key.publicKey.verifies(try key.sign(ascii(example.signed)), of: ascii(example.signed)))
  }

  @Test("a signature belongs to one message and one key")
  func signatures() throws {
    let (key, other) = (P256PrivateKey(), P256PrivateKey())
    for message in [[], ascii("message"), [UInt8](repeating: 7, count: 100_000)] {
      let signature = try key.sign(message)
      #expect(key.publicKey.verifies(signature, of: message))
      #expect(!key.publicKey.verifies(signature, of: message + [0]))
      #expect(!other.publicKey.verifies(signature, of: message))
    }
  }

  @Test("new keys differ, and two signatures of one message differ")
  func random() throws {
    let keys = (0..<20).map { _ in P256PrivateKey() }
    #expect(Set(keys.map(\.publicKey)).count == 20)
    #expect(keys.allSatisfy { $0.scalar.count == 32 })
    #expect(try keys[0].sign([1]) != keys[0].sign([1]))
  }

  @Test("a scalar is from 1 to the order less 1")
  func scalars() throws {
    let zeros = [UInt8](repeating: 0, count: 32)
    let largest = Self.order.dropLast() + [0x50]
    for scalar in [zeros.dropLast() + [1], Array(largest)] {
      #expect(try P256PrivateKey(scalar: Array(scalar)).scalar == Array(scalar))
    }
    let outside = [zeros, Self.order, Self.order.dropLast() + [0x52], [UInt8](repeating: 0xFF, count: 32)]
    for scalar in outside + [[], [1], Array(zeros.dropLast()), zeros + [1]] {
      #expect(throws: CryptographyError.self, "\(scalar)") { try P256PrivateKey(scalar: Array(scalar)) }
    }
  }

  @Test("a scalar and a PEM text make the same key again")
  func roundTrips() throws {
    let key = P256PrivateKey()
    #expect(key.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    #expect(key.pem.hasSuffix("-----END PRIVATE KEY-----\n"))
    for same in [try P256PrivateKey(pem: key.pem), try P256PrivateKey(scalar: key.scalar)] {
      #expect(same.scalar == key.scalar)
      #expect(same.publicKey == key.publicKey)
      #expect(same.pem == key.pem)
    }
  }

  @Test("other forms of a key are read, and written in the one form")
  func forms() throws {
    let key = P256PrivateKey()
    let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
    let forms = [
      KeyText.traditional(key.pem), parameters + KeyText.traditional(key.pem), KeyText.compressed(key.pem),
      "\n\nA comment\n" + key.pem + "\nmore\n", key.pem.replacing("\n", with: "\r\n"),
      key.publicKey.pem + key.pem, key.pem + P256PrivateKey().pem,
    ]
    for (index, form) in forms.enumerated() {
      #expect(form != key.pem, "\(index)")
      #expect(try P256PrivateKey(pem: form).pem == key.pem, "\(index)")
    }
  }

  @Test("keys of other algorithms and curves are refused")
  func otherKeys() {
    for curve in ["P-224", "P-384", "P-521", "secp256k1", "brainpoolP256r1"] {
      #expect(throws: CryptographyError("P-256 private key", "not a key on the named curve P-256"), "\(curve)") {
        try P256PrivateKey(pem: KeyText.elliptic(curve: curve))
      }
    }
    // The last one has explicit curve parameters.
    for pem in [RSATestKey(bits: 2048).pem, KeyText.ed25519(), KeyText.explicit(P256PrivateKey().pem)] {
      #expect(throws: CryptographyError("P-256 private key", "not a key on the named curve P-256")) {
        try P256PrivateKey(pem: pem)
      }
    }
  }

  @Test("a key with a passphrase is refused without asking, also an empty one", arguments: ["secret", ""])
  func passphrase(_ passphrase: String) {
    let key = P256PrivateKey()
    #expect(throws: CryptographyError.self) {
      try P256PrivateKey(pem: KeyText.encrypted(key.pem, passphrase: passphrase))
    }
    guard !passphrase.isEmpty else { return }
    #expect(throws: CryptographyError.self) {
      try P256PrivateKey(pem: KeyText.encryptedTraditional(key.pem, passphrase: passphrase))
    }
  }

  @Test("texts without a usable key are refused")
  func garbage() {
    let pem = P256PrivateKey().pem
    let lines = pem.split(separator: "\n")
    let texts = [
      "", "\n", "garbage", "\u{0}", "-----BEGIN PRIVATE KEY-----",
      "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
      "-----BEGIN PRIVATE KEY-----\n!!!!\n-----END PRIVATE KEY-----\n", String(pem.dropLast(30)),
      lines.joined(), String(lines[1]), P256PrivateKey().publicKey.pem, pem.replacing("PRIVATE", with: "PUBLIC"),
      "-----BEGIN PRIVATE KEY-----\n\(lines[1].dropLast(8))\n-----END PRIVATE KEY-----\n",
    ]
    for text in texts {
      #expect(throws: CryptographyError.self, "\(text.debugDescription)") { try P256PrivateKey(pem: text) }
    }
  }

  @Test("a text whose public half belongs to another key is refused")
  func mismatched() throws {
    let (key, other) = (P256PrivateKey(), P256PrivateKey())
    let pem = try PEMText.replacing(key.publicKey.x963, with: other.publicKey.x963, in: key.pem)
    #expect(throws: CryptographyError.self) { try P256PrivateKey(pem: pem) }
    #expect(try P256PrivateKey(pem: PEMText.replacing([], with: [], in: key.pem)).scalar == key.scalar)
  }

  @Test("an error names the operation and the reason, and holds nothing of the key")
  func errors() throws {
    let error = #expect(throws: CryptographyError.self) {
      try P256PrivateKey(pem: "-----BEGIN PRIVATE KEY-----\nU0VDUkVU\n-----END PRIVATE KEY-----\n")
    }
    let description = try #require(error).description
    #expect(description.hasPrefix("P-256 private key failed (error:"))
    #expect(!description.contains("U0VDUkVU") && !description.contains("SECRET"))
    #expect(CryptographyError("signature", "").description == "signature failed")
  }
}

@Suite("P-256 public keys")
struct P256PublicKeyTests {
  private let key = P256PrivateKey().publicKey

  @Test("all forms of a key make equal keys")
  func forms() throws {
    let (x, y) = (Array(key.x963[1...32]), Array(key.x963[33...]))
    let same = [
      try P256PublicKey(x963: key.x963), try P256PublicKey(x: x, y: y), try P256PublicKey(pem: key.pem),
      try P256PublicKey(pem: "text before\n" + key.pem + P256PrivateKey().publicKey.pem),
    ]
    #expect(Set(same + [key]).count == 1)
    #expect(Set(same.map(\.pem)) == [key.pem])
    #expect(key.pem.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
    #expect(key.x963.count == 65 && key.x963[0] == 4)
    #expect(key != P256PrivateKey().publicKey)
  }

  @Test("a compressed point in a PEM text is read")
  func compressed() throws {
    let secret = P256PrivateKey()
    let text = KeyText.publicHalf(of: KeyText.compressed(secret.pem))
    #expect(text != secret.publicKey.pem)
    #expect(try P256PublicKey(pem: text) == secret.publicKey)
  }

  @Test("points that are not on the curve are refused")
  func offCurve() {
    let zeros = [UInt8](repeating: 0, count: 32)
    let prime = Hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff").bytes
    let (x, y) = (Array(key.x963[1...32]), Array(key.x963[33...]))
    for point in [zeros + zeros, x + x, y + x, x + zeros, prime + y, x + prime, prime + prime] {
      #expect(throws: CryptographyError.self, "\(point)") { try P256PublicKey(x963: [4] + point) }
    }
    for bit in 0..<512 {
      var point = key.x963
      point[1 + bit / 8] ^= 1 << (bit % 8)
      #expect(throws: CryptographyError.self, "bit \(bit)") { try P256PublicKey(x963: point) }
    }
  }

  @Test("a coordinate that the field's prime was added to is refused")
  func unreduced() throws {
    // x = 5 is on the curve. p + 5 has 256 bits too.
    let y: Hex = "459243b9aa581806fe913bce99817ade11ca503c64d9a3c533415c083248fbcc"
    let five = [UInt8](repeating: 0, count: 31) + [5]
    let fiveAndPrime = Hex("ffffffff00000001000000000000000000000001000000000000000000000004").bytes
    #expect(try P256PublicKey(x: five, y: y.bytes).x963.count == 65)
    #expect(throws: CryptographyError.self) { try P256PublicKey(x: fiveAndPrime, y: y.bytes) }
  }

  @Test("infinity, compressed, hybrid and cut points are refused")
  func otherPoints() {
    let (x, y) = (Array(key.x963[1...32]), Array(key.x963[33...]))
    let points: [[UInt8]] = [
      [], [0], [0] + x + y, [4], [2] + x, [3] + x, [2] + x + y, [6 | y[31] & 1] + x + y, [5] + x + y,
      Array(key.x963.dropLast()), key.x963 + [0], Array(key.x963.dropFirst()),
    ]
    for point in points {
      #expect(throws: CryptographyError.self, "\(point)") { try P256PublicKey(x963: point) }
    }
  }

  @Test("infinity in a PEM text is refused")
  func infinity() {
    // SubjectPublicKeyInfo with the point 00.
    let key = "MBkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDAgAA"
    #expect(throws: CryptographyError("P-256 public key", "no point")) {
      try P256PublicKey(pem: "-----BEGIN PUBLIC KEY-----\n\(key)\n-----END PUBLIC KEY-----\n")
    }
  }

  @Test("coordinates have 32 bytes", arguments: [(31, 32), (32, 31), (33, 31), (31, 33), (0, 64), (33, 33)])
  func coordinateLengths(_ first: Int, _ second: Int) {
    let point = Array(key.x963.dropFirst()) + [0, 0]
    #expect(throws: CryptographyError.self) {
      try P256PublicKey(x: Array(point[..<first]), y: Array(point[first..<(first + second)]))
    }
  }

  @Test("keys of other algorithms and curves are refused")
  func otherKeys() {
    var texts = ["P-224", "P-384", "P-521", "secp256k1", "brainpoolP256r1"].map {
      KeyText.publicHalf(of: KeyText.elliptic(curve: $0))
    }
    texts += [RSATestKey(bits: 2048).publicPEM, KeyText.publicHalf(of: KeyText.ed25519())]
    // Explicit curve parameters.
    texts.append(KeyText.publicHalf(of: KeyText.explicit(P256PrivateKey().pem)))
    for pem in texts {
      #expect(throws: CryptographyError("P-256 public key", "not a key on the named curve P-256")) {
        try P256PublicKey(pem: pem)
      }
    }
  }

  @Test("texts without a public key are refused")
  func garbage() {
    for pem in ["", "garbage", P256PrivateKey().pem, String(key.pem.dropLast(30)), key.pem.replacing("KEY", with: "")] {
      #expect(throws: CryptographyError.self, "\(pem.debugDescription)") { try P256PublicKey(pem: pem) }
    }
  }
}
