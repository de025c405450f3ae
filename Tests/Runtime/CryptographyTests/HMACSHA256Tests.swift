import Cryptography
import Testing

@Suite("HMAC with SHA-256")
struct HMACSHA256Tests {
  private struct Case: Decodable {
    let number: Int
    let note: String
    let result: Verdict
    let key: Hex
    let message: Hex
    let code: Hex
  }

  @Test("codes are those of RFC 4231 and Project Wycheproof", arguments: ["rfc4231", "wycheproof"])
  func published(_ origin: String) throws {
    let cases: [Case] = try VectorFile.read("\(origin)-hmac_sha256")
    #expect(cases.count == (origin == "rfc4231" ? 6 : 174))
    for one in cases {
      let hmac = HMACSHA256(key: one.key.bytes)
      let code = hmac.code(for: one.message.bytes).bytes
      // Half of the cases have the first 16 bytes of the code, which are not enough here.
      let isWhole = one.code.bytes.count == SHA256Digest.byteCount
      let isRight = one.result == .valid
      #expect((Array(code.prefix(one.code.bytes.count)) == one.code.bytes) == isRight, "\(one.number): \(one.note)")
      #expect(
        hmac.isValid(one.code.bytes, for: one.message.bytes) == (isRight && isWhole), "\(one.number): \(one.note)")
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

  @Test("keys are padded to the block of 64 bytes, and longer ones hashed", arguments: [0, 1, 63, 64, 65, 200])
  func keyLengths(_ count: Int) {
    let key = [UInt8](repeating: 7, count: count)
    let block = count > 64 ? SHA256.hash(key).bytes : key
    let padded = block + [UInt8](repeating: 0, count: 64 - block.count)
    let inner = SHA256.hash(padded.map { $0 ^ 0x36 } + ascii("message")).bytes
    #expect(HMACSHA256(key: key).code(for: ascii("message")) == SHA256.hash(padded.map { $0 ^ 0x5C } + inner))
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
