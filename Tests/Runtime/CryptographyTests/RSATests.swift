import Cryptography
import Foundation
import TestKeys
import TestProcesses
import Testing

@Suite("RSA public keys")
struct RSAPublicKeyTests {
  private static let key = RSATestKey(bits: 2048)

  @Test("signatures verify as Project Wycheproof says", arguments: [(2048, 259), (8192, 33)])
  func published(_ bits: Int, _ count: Int) throws {
    let groups: [VectorGroup] = try VectorFile.read("wycheproof-rsa_signature_\(bits)_sha256")
    #expect(groups.map(\.cases.count).reduce(0, +) == count)
    for group in groups {
      let key = try RSAPublicKey(modulus: #require(group.modulus).bytes, exponent: #require(group.exponent).bytes)
      for one in group.cases {
        // The one acceptable case leaves out a NULL that RFC 8017 section 9.2 requires.
        #expect(key.verifies(one.signature, of: one.message) == (one.result == .valid), one.label)
      }
    }
  }

  @Test("a signature is exactly as long as the modulus")
  func lengths() throws {
    let key = try RSAPublicKey(modulus: Self.key.modulus, exponent: Self.key.exponent)
    let signature = Self.key.sign(ascii("message"))
    #expect(signature.count == 256)
    #expect(!key.verifies([], of: ascii("message")))
    #expect(!key.verifies([0] + signature, of: ascii("message")))
    #expect(!key.verifies(signature + [0], of: ascii("message")))
    #expect(!key.verifies(Array(signature.dropLast()), of: ascii("message")))
    #expect(!key.verifies(Array(signature.dropFirst()), of: ascii("message")))
  }

  @Test("a signature with leading zeros is not accepted without them")
  func leadingZeros() throws {
    let key = try RSAPublicKey(modulus: Self.key.modulus, exponent: Self.key.exponent)
    // One signature of 256 begins with a zero.
    let found = (0..<100_000).lazy.map { number in (ascii("\(number)"), Self.key.sign(ascii("\(number)"))) }
      .first { $0.1[0] == 0 }
    let (message, signature) = try #require(found)
    #expect(key.verifies(signature, of: message))
    #expect(!key.verifies(Array(signature.dropFirst()), of: message))
  }

  @Test("leading zeros of modulus and exponent do not count")
  func paddedNumbers() throws {
    let key = try RSAPublicKey(modulus: [0, 0] + Self.key.modulus, exponent: [0, 0, 0, 0, 0, 0] + Self.key.exponent)
    #expect(key.verifies(Self.key.sign([1]), of: [1]))
  }

  @Test(
    "a modulus has 2048 to 8192 bits",
    arguments: [
      (0, false), (1, false), (8, false), (1024, false), (2047, false), (2048, true), (2049, true), (4096, true),
      (8191, true), (8192, true), (8193, false), (16_384, false),
    ])
  func modulusLengths(_ bits: Int, _ isAccepted: Bool) {
    #expect(isAccepted == accepts(modulus: Self.number(bits: bits), exponent: [1, 0, 1]))
  }

  @Test(
    "an exponent is odd, at least 3 and has at most 33 bits",
    arguments: [
      ([], false), ([0], false), ([1], false), ([2], false), ([3], true), ([4], false), ([17], true),
      ([1, 0, 0], false),
      ([1, 0, 1], true), ([1, 0, 2], false), ([0xFF, 0xFF, 0xFF, 0xFF], true), ([1, 0, 0, 0, 1], true),
      ([1, 0xFF, 0xFF, 0xFF, 0xFF], true), ([1, 0xFF, 0xFF, 0xFF, 0xFE], false), ([2, 0, 0, 0, 1], false),
      ([1, 0, 0, 0, 0, 1], false),
    ] as [([UInt8], Bool)])
  func exponents(_ exponent: [UInt8], _ isAccepted: Bool) {
    #expect(isAccepted == accepts(modulus: Self.key.modulus, exponent: exponent))
    #expect(isAccepted == accepts(modulus: Self.number(bits: 8192), exponent: exponent))
  }

  @Test("an even modulus, and an exponent as long as the modulus, are refused")
  func otherNumbers() {
    let modulus = Self.key.modulus
    #expect(!accepts(modulus: modulus.dropLast() + [modulus[modulus.count - 1] & 0xFE], exponent: [1, 0, 1]))
    #expect(!accepts(modulus: modulus, exponent: modulus))
  }

  /// The largest number of so many bits, which is odd.
  private static func number(bits: Int) -> [UInt8] {
    let bytes = [UInt8](repeating: 0xFF, count: bits / 8)
    return bits % 8 == 0 ? bytes : [1 << (bits % 8) - 1] + bytes
  }

  private func accepts(modulus: [UInt8], exponent: [UInt8]) -> Bool {
    (try? RSAPublicKey(modulus: modulus, exponent: exponent)) != nil
  }
}

@Suite("RSA private keys")
struct RSAPrivateKeyTests {
  private static let key = RSAPrivateKey()

  @Test("a signature belongs to one message and one key, and is as long as the modulus", arguments: [2048, 2056, 3072])
  func signatures(_ bits: Int) throws {
    let key = RSAPrivateKey(bits: bits)
    for message in [[], ascii("message"), [UInt8](repeating: 7, count: 100_000)] {
      let signature = try key.sign(message)
      #expect(signature.count == bits / 8)
      #expect(key.publicKey.verifies(signature, of: message))
      #expect(!key.publicKey.verifies(signature, of: message + [0]))
      #expect(!Self.key.publicKey.verifies(signature, of: message))
    }
  }

  @Test("a signature is deterministic, and the same as that of another reader of the key")
  func deterministic() throws {
    let other = RSATestKey(bits: 2048)
    let key = try RSAPrivateKey(pem: other.pem)
    #expect(try key.sign(ascii("message")) == key.sign(ascii("message")))
    #expect(try key.sign(ascii("message")) == other.sign(ascii("message")))
  }

  @Test("openssl verifies what is signed here, and what it signs verifies here")
  func commandLine() async throws {
    try await onOwnThread {
      let folder = try makeTemporaryFolder("test-rsa")
      defer { try? FileManager.default.removeItem(atPath: folder) }
      try run(["openssl", "genrsa", "-out", "\(folder)/key.pem", "2048"])
      try run(["openssl", "rsa", "-in", "\(folder)/key.pem", "-pubout", "-out", "\(folder)/public.pem"])
      let key = try RSAPrivateKey(pem: String(contentsOfFile: "\(folder)/key.pem", encoding: .utf8))
      try Data(ascii("message")).write(to: URL(filePath: "\(folder)/message"))
      try Data(try key.sign(ascii("message"))).write(to: URL(filePath: "\(folder)/signature"))
      let verdict = try run([
        "openssl", "dgst", "-sha256", "-verify", "\(folder)/public.pem", "-signature", "\(folder)/signature",
        "\(folder)/message",
      ])
      #expect(verdict == "Verified OK\n")
      try run([
        "openssl", "dgst", "-sha256", "-sign", "\(folder)/key.pem", "-out", "\(folder)/theirs", "\(folder)/message",
      ])
      let theirs = [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/theirs")))
      #expect(try key.sign(ascii("message")) == theirs)
    }
  }

  @Test("the key of RFC 7515 section A.2 signs as the RFC says")
  func example() throws {
    let example = try JWSExamples.read().RS256
    let pem = try VectorFile.read("rfc7515-rs256-key", as: [String: String].self)["pem"]
    let key = try RSAPrivateKey(pem: #require(pem))
    #expect(try key.sign(ascii(example.signed)) == base64URL(example.signature))
    let publicKey = try RSAPublicKey(modulus: base64URL(example.n), exponent: base64URL(example.e))
    #expect(publicKey.verifies(base64URL(example.signature), of: ascii(example.signed)))
  }

  @Test("a key and its PEM text make the same key again, also as PKCS #1, with other text around it")
  func forms() throws {
    let pem = Self.key.pem
    #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    let forms = [
      pem, KeyText.traditional(pem), "\nA comment\n" + pem + "more\n", pem.replacing("\n", with: "\r\n"),
      KeyText.publicHalf(of: pem) + pem,
    ]
    for (index, form) in forms.enumerated() {
      let key = try RSAPrivateKey(pem: form)
      #expect(key.pem == pem, "\(index)")
      #expect(try key.sign([1]) == Self.key.sign([1]), "\(index)")
    }
  }

  @Test("a modulus has at least 2048 bits", arguments: [(1024, false), (2040, false), (2048, true)])
  func lengths(_ bits: Int, _ isAccepted: Bool) {
    let key = try? RSAPrivateKey(pem: RSATestKey(bits: bits).pem)
    #expect((key != nil) == isAccepted)
  }

  @Test("keys of other algorithms are refused")
  func otherKeys() {
    for pem in [KeyText.elliptic(curve: "P-256"), KeyText.ed25519()] {
      #expect(throws: CryptographyError("RSA private key", "not an RSA key")) { try RSAPrivateKey(pem: pem) }
    }
  }

  @Test("a key with a passphrase is refused without asking, also an empty one", arguments: ["secret", ""])
  func passphrase(_ passphrase: String) {
    for text in [KeyText.encrypted(Self.key.pem, passphrase: passphrase), KeyText.publicHalf(of: Self.key.pem)] {
      #expect(throws: CryptographyError.self) { try RSAPrivateKey(pem: text) }
    }
  }

  @Test("a text that is cut anywhere is refused")
  func cuts() throws {
    let pem = Self.key.pem.trimmingCharacters(in: .newlines)
    for length in stride(from: 0, to: pem.count, by: 7) {
      #expect(throws: CryptographyError.self, "\(length)") { try RSAPrivateKey(pem: String(pem.prefix(length))) }
    }
  }

  @Test("a key whose halves do not belong together is refused")
  func mismatch() throws {
    let (key, other) = (RSATestKey(bits: 2048), RSATestKey(bits: 2048))
    let pem = try PEMText.replacing(key.modulus, with: other.modulus, in: key.pem)
    #expect(throws: CryptographyError.self) { try RSAPrivateKey(pem: pem) }
  }
}
