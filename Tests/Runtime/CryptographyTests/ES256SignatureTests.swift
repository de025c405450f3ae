import Cryptography
import TestRandomness
import Testing

@Suite("ES256 signatures")
struct ES256SignatureTests {
  @Test("DER signatures verify as Project Wycheproof says")
  func der() throws {
    try check("ecdsa_secp256r1_sha256", count: 484) { ES256Signature(der: $0) }
  }

  @Test("raw signatures verify as Project Wycheproof says")
  func raw() throws {
    try check("ecdsa_secp256r1_sha256_p1363", count: 262) { ES256Signature(raw: $0) }
  }

  private func check(_ name: String, count: Int, _ read: ([UInt8]) -> ES256Signature?) throws {
    let groups: [VectorGroup] = try VectorFile.read("wycheproof-\(name)")
    #expect(groups.map(\.cases.count).reduce(0, +) == count)
    for group in groups {
      let key = try P256PublicKey(x963: #require(group.point).bytes)
      for one in group.cases {
        let isVerified = read(one.signature).map { key.verifies($0, of: one.message) } ?? false
        #expect(isVerified == (one.result == .valid), one.label)
      }
    }
  }

  @Test("the signature of RFC 7515 section A.3 verifies")
  func example() throws {
    let example = try JWSExamples.read().ES256
    let key = try P256PublicKey(x: base64URL(example.x), y: base64URL(example.y))
    let signature = try #require(ES256Signature(raw: base64URL(example.signature)))
    #expect(key.verifies(signature, of: ascii(example.signed)))
    #expect(!key.verifies(signature, of: ascii(example.signed + "A")))
  }

  @Test(
    "a raw signature has exactly 64 bytes", arguments: [(0, false), (63, false), (64, true), (65, false), (128, false)])
  func rawLength(_ count: Int, _ isAccepted: Bool) {
    #expect((ES256Signature(raw: [UInt8](repeating: 1, count: count)) != nil) == isAccepted)
  }

  @Test(
    "DER is read in one form only",
    arguments: [
      ("3006020101020102", true),  // r = 1, s = 2.
      ("3006020100020100", true),  // Zeros are integers, and verify nothing.
      ("30060201010201", false),  // Cut.
      ("300602010102010200", false),  // A byte after the end.
      ("30070201010201020500", false),  // A wrong length.
      ("30080201010201020500", false),  // A third element.
      ("308106020101020102", false),  // A long form of a short length.
      ("300702020001020102", false),  // A leading zero that is not needed.
      ("3006020181020102", false),  // Negative.
      ("300702020081020102", true),  // A leading zero that is needed.
      ("30050200020102", false),  // An integer without bytes.
      ("3106020101020102", false),  // A set.
      ("3006030101020102", false),  // A bit string.
      ("30800201010201020000", false),  // An indefinite length.
      ("", false),
      ("30", false),
      ("3000", false),
    ])
  func oneForm(_ der: String, _ isAccepted: Bool) {
    let signature = ES256Signature(der: Hex(der).bytes)
    #expect((signature != nil) == isAccepted)
    if let signature { #expect(signature.der == Hex(der).bytes) }
  }

  @Test("DER integers of 32 bytes are read, longer ones are not")
  func integerLength() {
    let largest = [UInt8](repeating: 0xFF, count: 32)
    #expect(ES256Signature(der: [0x30, 0x26, 2, 33, 0] + largest + [2, 1, 1])?.raw.prefix(32) == largest[...])
    #expect(ES256Signature(der: [0x30, 0x26, 2, 33, 1] + largest + [2, 1, 1]) == nil)
    #expect(ES256Signature(der: [0x30, 0x26, 2, 1, 1, 2, 33, 1] + largest) == nil)
  }

  @Test("r and s outside 1..<n verify nothing")
  func outside() throws {
    let key = P256PrivateKey()
    let signature = try key.sign(ascii("message")).raw
    let order = Hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551").bytes
    for integer in [[UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 0xFF, count: 32)] {
      for raw in [integer + signature[32...], signature[..<32] + integer, integer + integer] {
        let changed = try #require(ES256Signature(raw: Array(raw)))
        #expect(!key.publicKey.verifies(changed, of: ascii("message")))
      }
    }
  }

  @Test("both forms of a signature have the same integers")
  func forms() throws {
    let key = P256PrivateKey()
    for _ in 0..<50 {
      let signature = try key.sign(ascii("message"))
      #expect(signature.raw.count == 64)
      #expect(ES256Signature(der: signature.der) == signature)
      #expect(ES256Signature(raw: signature.raw) == signature)
    }
  }

  @Test("changed DER is refused, or has the bytes it was read from")
  func changedDER() throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    let key = P256PrivateKey()
    let signature = try key.sign(ascii("message"))
    for run in 0..<2000 {
      var der = signature.der
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: der[.random(in: 0..<der.count, using: &generator)] = .random(in: .min ... .max, using: &generator)
      case 1:
        der.insert(.random(in: .min ... .max, using: &generator), at: .random(in: 0...der.count, using: &generator))
      default: der.remove(at: .random(in: 0..<der.count, using: &generator))
      }
      guard der != signature.der, let read = ES256Signature(der: der) else { continue }
      #expect(read.der == der, "seed \(seed), run \(run)")
      #expect(!key.publicKey.verifies(read, of: ascii("message")), "seed \(seed), run \(run)")
    }
  }
}
