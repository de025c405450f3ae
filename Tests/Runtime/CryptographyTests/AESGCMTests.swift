import Cryptography
import TestRandomness
import Testing

@Suite("AES-128-GCM")
struct AES128GCMTests {
  private struct Case: Decodable {
    let number: Int
    let note: String
    let result: Verdict
    let key: Hex
    let nonce: Hex
    let additionalData: Hex
    let plaintext: Hex
    let sealed: Hex
  }

  @Test("ciphertexts are those of NIST and Project Wycheproof", arguments: [("nist", 25), ("wycheproof", 67)])
  func published(_ origin: String, _ count: Int) throws {
    let cases: [Case] = try VectorFile.read("\(origin)-aes_gcm")
    #expect(cases.count == count)
    for one in cases {
      let cipher = AES128GCM(key: one.key.bytes)
      let (nonce, data) = (one.nonce.bytes, one.additionalData.bytes)
      let sealed = cipher.seal(one.plaintext.bytes, nonce: nonce, additionalData: data)
      let opened = cipher.open(one.sealed.bytes, nonce: nonce, additionalData: data)
      let isRight = one.result == .valid
      #expect((sealed == one.sealed.bytes) == isRight, "\(one.number): \(one.note)")
      #expect(opened == (isRight ? one.plaintext.bytes : nil), "\(one.number): \(one.note)")
    }
  }

  @Test("the record of RFC 8188 section 3.1 is sealed with keys derived from its salt")
  func encryptedContent() {
    let (secret, salt) = (base64URL("yqdlZ-tYemfogSmv7Ws5PQ"), base64URL("I1BsxtFttlv3u_Oo94xnmw"))
    func derive(_ label: String, _ count: Int) -> [UInt8] {
      HKDFSHA256.derive(
        from: secret, salt: salt, info: ascii("Content-Encoding: \(label)") + [0], byteCount: count)
    }
    let cipher = AES128GCM(key: derive("aes128gcm", 16))
    // The byte 2 ends the last record.
    let sealed = cipher.seal(ascii("I am the walrus") + [2], nonce: derive("nonce", 12))
    #expect(sealed == base64URL("-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg"))
  }

  @Test("what was sealed opens, at lengths around the block", arguments: [0, 1, 15, 16, 17, 4096, 100_000])
  func roundTrip(_ count: Int) {
    let cipher = AES128GCM(key: [UInt8](0..<16))
    let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let sealed = cipher.seal(plaintext, nonce: [UInt8](0..<12), additionalData: plaintext)
    #expect(sealed.count == count + 16)
    #expect(cipher.open(sealed, nonce: [UInt8](0..<12), additionalData: plaintext) == plaintext)
  }

  @Test("nothing opens when the key, the nonce, the additional data or any bit differs")
  func changed() {
    let cipher = AES128GCM(key: [UInt8](0..<16))
    let nonce = [UInt8](0..<12)
    let sealed = cipher.seal(ascii("text"), nonce: nonce, additionalData: ascii("data"))
    #expect(AES128GCM(key: [UInt8](1..<17)).open(sealed, nonce: nonce, additionalData: ascii("data")) == nil)
    #expect(cipher.open(sealed, nonce: [UInt8](1..<13), additionalData: ascii("data")) == nil)
    #expect(cipher.open(sealed, nonce: nonce, additionalData: ascii("date")) == nil)
    #expect(cipher.open(sealed, nonce: nonce) == nil)
    for bit in 0..<(8 * sealed.count) {
      var changed = sealed
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(cipher.open(changed, nonce: nonce, additionalData: ascii("data")) == nil, "bit \(bit)")
    }
    #expect(cipher.open(sealed, nonce: nonce, additionalData: ascii("data")) == ascii("text"))
  }

  @Test("a cut ciphertext opens at no length, also shorter than a tag")
  func cut() {
    let cipher = AES128GCM(key: [UInt8](0..<16))
    let sealed = cipher.seal(ascii("some text"), nonce: [UInt8](0..<12))
    for count in 0..<sealed.count {
      #expect(cipher.open(Array(sealed.prefix(count)), nonce: [UInt8](0..<12)) == nil, "\(count) bytes")
    }
    #expect(cipher.open(sealed + [0], nonce: [UInt8](0..<12)) == nil)
  }

  @Test("keys and nonces of other lengths are a caller's mistake")
  func lengths() async {
    await #expect(processExitsWith: .failure) { _ = AES128GCM(key: [UInt8](repeating: 0, count: 15)) }
    await #expect(processExitsWith: .failure) { _ = AES128GCM(key: [UInt8](repeating: 0, count: 32)) }
    await #expect(processExitsWith: .failure) {
      _ = AES128GCM(key: [UInt8](repeating: 0, count: 16)).seal([], nonce: [UInt8](repeating: 0, count: 13))
    }
    await #expect(processExitsWith: .failure) {
      _ = AES128GCM(key: [UInt8](repeating: 0, count: 16)).open(
        [UInt8](repeating: 0, count: 16), nonce: [UInt8](repeating: 0, count: 11))
    }
  }

  @Test("random texts open as they were sealed")
  func random() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    for run in 0..<200 {
      let (key, nonce) = (bytes(16, &generator), bytes(12, &generator))
      let (text, data) = (bytes(.random(in: 0...300, using: &generator), &generator), bytes(run, &generator))
      let sealed = AES128GCM(key: key).seal(text, nonce: nonce, additionalData: data)
      #expect(AES128GCM(key: key).open(sealed, nonce: nonce, additionalData: data) == text, "seed \(seed), run \(run)")
    }
  }

  private func bytes(_ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in .random(in: .min ... .max, using: &generator) }
  }
}

@Suite("AES-256-GCM")
struct AES256GCMTests {
  private struct Case: Decodable {
    let note: String
    let key: Hex
    let nonce: Hex
    let additionalData: Hex
    let plaintext: Hex
    let sealed: Hex
  }

  @Test("ciphertexts are those of NIST, and no other bit of them opens")
  func published() throws {
    let cases: [Case] = try VectorFile.read("nist-aes_256_gcm")
    #expect(cases.count == 25)
    for one in cases {
      let cipher = AES256GCM(key: one.key.bytes)
      let (nonce, data) = (one.nonce.bytes, one.additionalData.bytes)
      #expect(cipher.seal(one.plaintext.bytes, nonce: nonce, additionalData: data) == one.sealed.bytes, "\(one.note)")
      #expect(cipher.open(one.sealed.bytes, nonce: nonce, additionalData: data) == one.plaintext.bytes, "\(one.note)")
      for bit in 0..<(one.sealed.bytes.count * 8) {
        var changed = one.sealed.bytes
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(cipher.open(changed, nonce: nonce, additionalData: data) == nil, "\(one.note), bit \(bit)")
      }
    }
  }
}
