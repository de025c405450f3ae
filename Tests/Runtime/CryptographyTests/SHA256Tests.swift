import Cryptography
import Testing

@Suite("SHA256Digest")
struct SHA256DigestTests {
  private let digest = SHA256.hash(ascii("abc"))

  @Test("equal digests are equal and hash the same, others differ")
  func equality() {
    #expect(digest == SHA256.hash(ascii("abc")))
    #expect(digest != SHA256.hash(ascii("abd")))
    #expect(Set([digest, SHA256.hash(ascii("abc")), SHA256.hash(ascii("abd"))]).count == 2)
  }

  @Test(
    "hexadecimal writes the first bytes",
    arguments: [(0, ""), (1, "ba"), (8, "ba7816bf8f01cfea"), (31, String(text.dropLast(2))), (32, text)])
  func hexadecimal(_ count: Int, _ expected: String) {
    #expect(digest.hexadecimal(bytes: count) == expected)
  }

  private static let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
}

@Suite("Digests")
struct DigestsTests {
  @Test("digests are those that NIST publishes, for messages of 0 to 64 bytes and longer")
  func published() throws {
    let cases: [VectorCase] = try VectorFile.read("fips180-digests")
    #expect(cases.count == 146)
    for one in cases {
      let algorithm = one.text("algorithm")
      let digest = algorithm == "SHA1" ? sha1(one.message) : SHA256.hash(one.message).bytes
      #expect(digest == one.digest, "\(algorithm) of \(one.message.count) bytes")
    }
  }

  @Test("a digest of borrowed bytes is that of an array")
  func borrowed() {
    let bytes = ascii("a message of some length")
    #expect(bytes.withUnsafeBytes { SHA256.hash($0) } == SHA256.hash(bytes))
    #expect(SHA256.hash(UnsafeRawBufferPointer(start: nil, count: 0)) == SHA256.hash([]))
  }

  private func sha1(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBytes { SHA1.hash($0) { Array($0) } }
  }
}

@Suite("HMAC with SHA-256")
struct HMACSHA256Tests {
  @Test("codes are those of RFC 4231 and Project Wycheproof", arguments: ["rfc4231", "wycheproof"])
  func published(_ origin: String) throws {
    let cases: [VectorCase] = try VectorFile.read("\(origin)-hmac_sha256")
    #expect(cases.count == (origin == "rfc4231" ? 6 : 174))
    for one in cases {
      let hmac = HMACSHA256(key: one.key)
      let code = hmac.code(for: one.message).bytes
      // Half of the cases have the first 16 bytes of the code, which are not enough here.
      let isWhole = one.code.count == SHA256Digest.byteCount
      let isRight = one.result == .valid
      #expect((Array(code.prefix(one.code.count)) == one.code) == isRight, one.label)
      #expect(hmac.isValid(one.code, for: one.message) == (isRight && isWhole), one.label)
    }
  }

  @Test("a code with any bit changed is not valid")
  func changedBits() {
    let hmac = HMACSHA256(key: ascii("key"))
    let code = hmac.code(for: ascii("message")).bytes
    for bit in 0..<256 {
      var changed = code
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(!hmac.isValid(changed, for: ascii("message")), "bit \(bit)")
    }
  }

  @Test("only a code of 32 bytes is valid", arguments: [(0, false), (31, false), (32, true), (33, false), (64, false)])
  func lengths(_ count: Int, _ isValid: Bool) {
    let hmac = HMACSHA256(key: ascii("key"))
    let code = hmac.code(for: ascii("message")).bytes + [UInt8](repeating: 0, count: 32)
    #expect(hmac.isValid(Array(code.prefix(count)), for: ascii("message")) == isValid)
  }

  @Test("one key gives the same codes again, also for its copies")
  func repeated() {
    let hmac = HMACSHA256(key: ascii("key"))
    let copy = hmac
    let first = hmac.code(for: ascii("first"))
    _ = copy.code(for: ascii("second"))
    #expect(hmac.code(for: ascii("first")) == first)
    #expect(copy.code(for: ascii("first")) == first)
  }
}

@Suite("HKDF with SHA-256")
struct HKDFSHA256Tests {
  @Test("keys are those of RFC 5869 and Project Wycheproof", arguments: [("rfc5869", 3), ("wycheproof", 83)])
  func published(_ origin: String, _ count: Int) throws {
    // Invalid cases ask for more than 8160 bytes, which is a caller's mistake.
    let cases = try VectorFile.read("\(origin)-hkdf_sha256", as: [VectorCase].self).filter { $0.result == .valid }
    #expect(cases.count == count)
    for one in cases {
      let byteCount = try #require(Int(one.text("byteCount")))
      let output = HKDFSHA256.derive(from: one.secret, salt: one.salt, info: one.info, byteCount: byteCount)
      #expect(output == one.output, one.label)
    }
  }

  @Test("an output has the length asked for, and begins a longer one", arguments: [0, 1, 31, 32, 33, 64, 8159, 8160])
  func lengths(_ count: Int) {
    let all = HKDFSHA256.derive(from: ascii("secret"), info: [], byteCount: 8160)
    #expect(HKDFSHA256.derive(from: ascii("secret"), info: [], byteCount: count) == Array(all.prefix(count)))
  }

  @Test("8161 bytes and a negative length are a caller's mistake")
  func tooLong() async {
    await #expect(processExitsWith: .failure) {
      _ = HKDFSHA256.derive(from: [1], info: [], byteCount: 8161)
    }
    await #expect(processExitsWith: .failure) {
      _ = HKDFSHA256.derive(from: [1], info: [], byteCount: -1)
    }
  }

  @Test("no salt is a salt of 32 zeros")
  func noSalt() {
    let zeros = [UInt8](repeating: 0, count: 32)
    #expect(
      HKDFSHA256.derive(from: ascii("secret"), info: [1], byteCount: 16)
        == HKDFSHA256.derive(from: ascii("secret"), salt: zeros, info: [1], byteCount: 16))
  }
}
