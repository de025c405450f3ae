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

  @Test("a digest has 32 bytes, inline")
  func shape() {
    #expect(digest.bytes.count == SHA256Digest.byteCount)
    #expect(digest.withUnsafeBytes { Array($0) } == digest.bytes)
    #expect(MemoryLayout<SHA256Digest>.size == 32)
  }

  @Test(
    "hexadecimal writes the first bytes",
    arguments: [(0, ""), (1, "ba"), (8, "ba7816bf8f01cfea"), (31, String(text.dropLast(2))), (32, text)])
  func hexadecimal(_ count: Int, _ expected: String) {
    #expect(digest.hexadecimal(bytes: count) == expected)
  }

  private static let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
}
