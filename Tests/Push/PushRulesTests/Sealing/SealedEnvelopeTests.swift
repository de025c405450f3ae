import Cryptography
import Testing

@testable import PushRules

@Suite("Sealed envelopes")
struct SealedEnvelopeTests {
  private let device = X25519PrivateKey()
  private let binding = SealedBinding(channel: "apns", address: "ab12", kind: "message", id: "m-1")

  private func envelope(_ count: Int) throws -> [UInt8] {
    let content = [UInt8](repeating: UInt8(ascii: "x"), count: count)
    let text = try SealedEnvelope.seal(content, for: SealingKey(device.publicKey), boundTo: binding)
    return try #require(Base64URL.decode(text.utf8))
  }

  @Test(
    "content is padded to the next size",
    arguments: [(0, 256), (256, 256), (257, 512), (512, 512), (513, 1024), (1025, 2048), (2048, 2048)])
  func padding(_ count: Int, _ padded: Int) throws {
    let bytes = try envelope(count)
    #expect(bytes.count == 37 + padded + 16)
    #expect(Base64URL.encode(bytes).utf8.count == SealedEnvelope.characters(ofPaddedSize: padded))
  }

  @Test("the head has the version, the beginning of the key's digest, and another ephemeral key each time")
  func head() throws {
    let (one, other) = (try envelope(3), try envelope(3))
    #expect(one[0] == 1)
    #expect(Array(one[1..<5]) == Array(SHA256.hash(device.publicKey.bytes).bytes.prefix(4)))
    #expect(one[5..<37] != other[5..<37])
    #expect(one[37...] != other[37...])
  }

  @Test(
    "a key is 32 bytes of base64url",
    arguments: [
      (String(repeating: "A", count: 42), false), (String(repeating: "A", count: 44), false), ("", false),
      (String(repeating: "A", count: 42) + "E", true), (String(repeating: "A", count: 42) + "F", false),
      (String(repeating: "+", count: 43), false), (String(repeating: "A", count: 42) + "=", false),
    ])
  func keys(_ text: String, _ isKey: Bool) {
    #expect((SealingKey(text: text) != nil) == isKey)
  }

  @Test("keys of low order are keys for which nothing can be sealed")
  func lowOrder() throws {
    for first: UInt8 in [0, 1] {
      let key = SealingKey(try X25519PublicKey([first] + [UInt8](repeating: 0, count: 31)))
      #expect(!key.isUsable)
      #expect(throws: CryptographyError.self) { try SealedEnvelope.seal([1], for: key, boundTo: binding) }
    }
    #expect(SealingKey(device.publicKey).isUsable)
  }
}
