import COpenSSL
import Cryptography
import Testing

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

  @Test("a text is all that was written", arguments: ["a", "line\nline\n", String(repeating: "x", count: 100_000)])
  func writing(_ text: String) {
    let written = MemoryBIO.text { BIO_write($0, text, Int32(text.utf8.count)) == text.utf8.count ? 1 : 0 }
    #expect(written == text)
  }
}
