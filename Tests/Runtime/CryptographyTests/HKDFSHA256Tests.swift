import Cryptography
import Testing

@Suite("HKDF with SHA-256")
struct HKDFSHA256Tests {
  private struct Case: Decodable {
    let number: Int
    let note: String
    let result: Verdict
    let secret: Hex
    let salt: Hex
    let info: Hex
    let byteCount: Int
    let output: Hex
  }

  @Test("keys are those of RFC 5869 and Project Wycheproof", arguments: [("rfc5869", 3), ("wycheproof", 83)])
  func published(_ origin: String, _ count: Int) throws {
    // Invalid cases ask for more than 8160 bytes, which is a caller's mistake.
    let cases = try VectorFile.read("\(origin)-hkdf_sha256", as: [Case].self).filter { $0.result == .valid }
    #expect(cases.count == count)
    for one in cases {
      let output = HKDFSHA256.derive(
        from: one.secret.bytes, salt: one.salt.bytes, info: one.info.bytes, byteCount: one.byteCount)
      #expect(output == one.output.bytes, "\(one.number): \(one.note)")
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
