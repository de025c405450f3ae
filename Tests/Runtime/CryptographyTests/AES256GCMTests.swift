import Cryptography
import Testing

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
