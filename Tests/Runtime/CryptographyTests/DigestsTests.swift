import Cryptography
import Testing

@Suite("Digests")
struct DigestsTests {
  private struct Case: Decodable {
    let algorithm: String
    let message: Hex
    let digest: Hex
  }

  @Test("digests are those that NIST publishes, for messages of 0 to 64 bytes and longer")
  func published() throws {
    let cases: [Case] = try VectorFile.read("fips180-digests")
    #expect(cases.count == 146)
    for one in cases {
      let digest = one.algorithm == "SHA1" ? sha1(one.message.bytes) : SHA256.hash(one.message.bytes).bytes
      #expect(digest == one.digest.bytes, "\(one.algorithm) of \(one.message.bytes.count) bytes")
    }
  }

  @Test(
    "digests of the examples of RFC 6234 section 8.5 and FIPS 180",
    arguments: [
      ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
      (
        "0123456701234567012345670123456701234567012345670123456701234567", 10,
        "594847328451bdfa85056225462cc1d867d877fb388df0ce35f25ab5562bfbb5"
      ),
    ])
  func examples(_ text: String, _ count: Int, _ digest: String) {
    #expect(SHA256.hash(ascii(String(repeating: text, count: count))).hexadecimal() == digest)
  }

  @Test("SHA-1 of the examples of RFC 3174 section 7.3")
  func sha1Examples() {
    #expect(sha1(ascii("abc")) == Hex("a9993e364706816aba3e25717850c26c9cd0d89d").bytes)
    #expect(sha1([]) == Hex("da39a3ee5e6b4b0d3255bfef95601890afd80709").bytes)
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
