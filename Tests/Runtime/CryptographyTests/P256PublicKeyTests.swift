import Cryptography
import TestKeys
import Testing

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
