import COpenSSL
import Cryptography
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
    let cipher = AES128GCM(key: [UInt8](0..<16))
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
