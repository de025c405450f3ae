import Cryptography
import Testing

@Suite("AES-GCM")
struct AESGCMTests {
  @Test(
    "ciphertexts are those of NIST and Project Wycheproof",
    arguments: [("nist-aes_gcm", 25), ("wycheproof-aes_gcm", 67), ("nist-aes_256_gcm", 25)])
  func published(_ file: String, _ count: Int) throws {
    let cases: [VectorCase] = try VectorFile.read(file)
    #expect(cases.count == count)
    for one in cases {
      let cipher = AESGCM(key: one.key)
      let sealed = cipher.seal(one.plaintext, nonce: one.nonce, additionalData: one.additionalData)
      let opened = cipher.open(one.sealed, nonce: one.nonce, additionalData: one.additionalData)
      let isRight = one.result != .invalid
      #expect((sealed == one.sealed) == isRight, one.label)
      #expect(opened == (isRight ? one.plaintext : nil), one.label)
    }
  }

  @Test("the record of RFC 8188 section 3.1 is sealed with keys derived from its salt")
  func encryptedContent() {
    let (secret, salt) = (base64URL("yqdlZ-tYemfogSmv7Ws5PQ"), base64URL("I1BsxtFttlv3u_Oo94xnmw"))
    func derive(_ label: String, _ count: Int) -> [UInt8] {
      HKDFSHA256.derive(
        from: secret, salt: salt, info: ascii("Content-Encoding: \(label)") + [0], byteCount: count)
    }
    let cipher = AESGCM(key: derive("aes128gcm", 16))
    // The byte 2 ends the last record.
    let sealed = cipher.seal(ascii("I am the walrus") + [2], nonce: derive("nonce", 12))
    #expect(sealed == base64URL("-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg"))
  }

  @Test("what was sealed opens, at lengths around the block", arguments: [0, 1, 15, 16, 17, 4096, 100_000])
  func roundTrip(_ count: Int) {
    let cipher = AESGCM(key: [UInt8](0..<16))
    let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let sealed = cipher.seal(plaintext, nonce: [UInt8](0..<12), additionalData: plaintext)
    #expect(sealed.count == count + 16)
    #expect(cipher.open(sealed, nonce: [UInt8](0..<12), additionalData: plaintext) == plaintext)
  }

  @Test(
    "nothing opens when the key, the nonce, the additional data or any bit differs", arguments: [16, 32] as [UInt8])
  func changed(keyByteCount: UInt8) {
    let cipher = AESGCM(key: [UInt8](0..<keyByteCount))
    let nonce = [UInt8](0..<12)
    let sealed = cipher.seal(ascii("text"), nonce: nonce, additionalData: ascii("data"))
    #expect(AESGCM(key: [UInt8](1...keyByteCount)).open(sealed, nonce: nonce, additionalData: ascii("data")) == nil)
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
    let cipher = AESGCM(key: [UInt8](0..<16))
    let sealed = cipher.seal(ascii("some text"), nonce: [UInt8](0..<12))
    for count in 0..<sealed.count {
      #expect(cipher.open(Array(sealed.prefix(count)), nonce: [UInt8](0..<12)) == nil, "\(count) bytes")
    }
    #expect(cipher.open(sealed + [0], nonce: [UInt8](0..<12)) == nil)
  }

  @Test("keys and nonces of other lengths are a caller's mistake")
  func lengths() async {
    await #expect(processExitsWith: .failure) { _ = AESGCM(key: [UInt8](repeating: 0, count: 15)) }
    await #expect(processExitsWith: .failure) { _ = AESGCM(key: [UInt8](repeating: 0, count: 31)) }
    await #expect(processExitsWith: .failure) {
      _ = AESGCM(key: [UInt8](repeating: 0, count: 16)).seal([], nonce: [UInt8](repeating: 0, count: 13))
    }
    await #expect(processExitsWith: .failure) {
      _ = AESGCM(key: [UInt8](repeating: 0, count: 16)).open(
        [UInt8](repeating: 0, count: 16), nonce: [UInt8](repeating: 0, count: 11))
    }
  }
}
