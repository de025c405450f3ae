import COpenSSL
import Cryptography
import TestKeys
import Testing

@Suite("OpenSSL's error queue")
struct ErrorQueueTests {
  @Test("draining returns the entries, oldest first, and leaves the queue empty")
  func drain() {
    ErrorQueue.clear()
    record(EC_R_POINT_IS_NOT_ON_CURVE)
    record(EC_R_INVALID_COMPRESSED_POINT)
    let content = ErrorQueue.drain()
    #expect(content.reasons == [EC_R_POINT_IS_NOT_ON_CURVE, EC_R_INVALID_COMPRESSED_POINT])
    #expect(content.text.contains("point is not on curve; error:"))
    #expect(ErrorQueue.drain().reasons.isEmpty)
    #expect(ErrorQueue.drain().text.isEmpty)
  }

  @Test("clearing leaves no entry")
  func clear() {
    record(EC_R_POINT_IS_NOT_ON_CURVE)
    ErrorQueue.clear()
    #expect(ERR_peek_error() == 0)
  }

  @Test("an operation ignores entries left by others, and leaves the queue empty")
  func checked() throws {
    record(EC_R_POINT_IS_NOT_ON_CURVE)
    let failure = #expect(throws: CryptographyError.self) {
      try ErrorQueue.checked("operation") { () -> Int? in
        record(EC_R_INVALID_COMPRESSED_POINT)
        return nil
      }
    }
    #expect(failure?.operation == "operation")
    #expect(failure?.message.contains("invalid compressed point") == true)
    #expect(failure?.message.contains("not on curve") == false)
    #expect(ERR_peek_error() == 0)
    record(EC_R_POINT_IS_NOT_ON_CURVE)
    #expect(try ErrorQueue.checked("operation") { 1 } == 1)
    #expect(ERR_peek_error() == 0)
  }

  @Test("no refused input leaves an entry")
  func refusedInputs() throws {
    ErrorQueue.clear()
    let key = P256PrivateKey()
    let cipher = AESGCM(key: [UInt8](0..<16))
    let rsa = try RSAPublicKey(modulus: [UInt8](repeating: 0xFF, count: 256), exponent: [3])
    let refused: [(String, () -> Bool)] = [
      ("private PEM", { (try? P256PrivateKey(pem: "garbage")) == nil }),
      ("public PEM", { (try? P256PublicKey(pem: "garbage")) == nil }),
      ("scalar", { (try? P256PrivateKey(scalar: [UInt8](repeating: 0, count: 32))) == nil }),
      ("point", { (try? P256PublicKey(x963: [4] + [UInt8](repeating: 0, count: 64))) == nil }),
      ("DER", { ES256Signature(der: [0x30, 6, 2, 1, 1]) == nil }),
      ("signature", { !verifiesZeros(key) }),
      ("RSA signature", { !rsa.verifies([UInt8](repeating: 1, count: 256), of: [1]) }),
      ("tag", { cipher.open([UInt8](repeating: 0, count: 16), nonce: [UInt8](0..<12)) == nil }),
    ]
    for (name, isRefused) in refused {
      #expect(isRefused(), "\(name)")
      #expect(ERR_peek_error() == 0, "\(name)")
    }
  }

  private func verifiesZeros(_ key: P256PrivateKey) -> Bool {
    ES256Signature(raw: [UInt8](repeating: 0, count: 64)).map { key.publicKey.verifies($0, of: []) } ?? true
  }

  private func record(_ reason: Int32) {
    ERR_new()
    ERR_set_debug(#file, #line, #function)
    withVaList([]) { ERR_vset_error(ERR_LIB_EC, reason, nil, $0) }
  }
}

@Suite("PEM texts in memory")
struct MemoryBIOTests {
  @Test(
    "a text is read as it is", arguments: ["", "a", "line\nline\n", "ä\u{0}", String(repeating: "x", count: 100_000)])
  func reading(_ text: String) {
    let memory = MemoryBIO.reading(text)
    defer { BIO_free_all(memory) }
    var bytes = [UInt8](repeating: 0, count: text.utf8.count + 1)
    let count = BIO_read(memory, &bytes, Int32(bytes.count))
    #expect(Array(bytes.prefix(Int(max(0, count)))) == Array(text.utf8))
  }
}

@Suite("Keys on several threads")
struct KeyHandleTests {
  @Test("eight tasks sign, verify and derive with one key at once")
  func elliptic() async throws {
    let (key, peer) = (P256PrivateKey(), P256PrivateKey())
    let secret = try key.sharedSecret(with: peer.publicKey)
    let failures = try await failures { task, round in
      let message = ascii("task \(task), round \(round)")
      let signature = try key.sign(message)
      let isAgreed = try peer.sharedSecret(with: key.publicKey) == secret
      return isAgreed && key.publicKey.verifies(signature, of: message)
        && !peer.publicKey.verifies(signature, of: message)
    }
    #expect(failures == 0)
  }

  @Test("eight tasks verify with one RSA key, and compute codes with one HMAC key, at once")
  func others() async throws {
    let own = RSATestKey(bits: 2048)
    let key = try RSAPublicKey(modulus: own.modulus, exponent: own.exponent)
    let hmac = HMACSHA256(key: ascii("key"))
    let failures = try await failures { task, round in
      let message = ascii("task \(task), round \(round)")
      return key.verifies(own.sign(message), of: message) && !key.verifies(own.sign(message), of: message + [0])
        && hmac.code(for: message) == HMACSHA256(key: ascii("key")).code(for: message)
    }
    #expect(failures == 0)
  }

  @Test("a public key works after its private key is gone")
  func lifetime() throws {
    var key: P256PrivateKey? = P256PrivateKey()
    let signature = try #require(try key?.sign([1]))
    let publicKey = try #require(key?.publicKey)
    key = nil
    #expect(publicKey.verifies(signature, of: [1]))
  }

  private func failures(_ isRight: @escaping @Sendable (Int, Int) throws -> Bool) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask { @concurrent in
          try (0..<50).count { round in try !isRight(task, round) }
        }
      }
      return try await group.reduce(0, +)
    }
  }
}
