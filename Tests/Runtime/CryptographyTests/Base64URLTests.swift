import Cryptography
import Testing

@Suite("Base64URL")
struct Base64URLTests {
  @Test(
    "texts are those of RFC 4648 section 10 and RFC 7515 appendix C, without padding",
    arguments: [
      ("", []), ("Zg", ascii("f")), ("Zm8", ascii("fo")), ("Zm9v", ascii("foo")), ("Zm9vYg", ascii("foob")),
      ("Zm9vYmE", ascii("fooba")), ("Zm9vYmFy", ascii("foobar")), ("A-z_4ME", [3, 236, 255, 224, 193]),
      ("-_-_", [0xFB, 0xFF, 0xBF]), ("AAAA", [0, 0, 0]), ("____", [255, 255, 255]),
    ])
  func published(_ text: String, _ bytes: [UInt8]) {
    #expect(Base64URL.decode(text.utf8) == bytes)
    #expect(Base64URL.encode(bytes) == text)
  }

  @Test(
    "other texts are refused",
    arguments: [
      // Padding.
      "=", "==", "Zg==", "Zg=", "Zm8=", "Zm9v=", "Zm9v====",
      // Characters outside the alphabet, in each place.
      "+AAA", "A/AA", "AA+A", "AAA/", " Zg", "Zg ", "Z g", "Zm9v\n", "\r\nZm9v", "Zm\u{0}v", "Zm9v.", "Zm9é", "ＡＡＡＡ",
      "Zm9v,",
      "@AAA", "[AAA", "`AAA", "{AAA", "^AAA", "~AAA",
      // Lengths that no bytes have.
      "Z", "Zm9vY", "AAAAAAAAA",
      // Trailing bits that are not zero.
      "Zh", "Zn", "Zv", "Z_", "Zm9", "Zm-", "AB", "AAB", "AAAAAB", "__", "___",
    ])
  func refused(_ text: String) {
    #expect(Base64URL.decode(text.utf8) == nil)
  }

  @Test("of all texts of two characters, the 256 that are accepted give each byte once")
  func everyByte() {
    var decoded: [UInt8] = []
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        guard let bytes = Base64URL.decode([first, second]) else { continue }
        decoded += bytes
        #expect(Array(Base64URL.encode(bytes).utf8) == [first, second])
      }
    }
    #expect(decoded.sorted() == Array(UInt8.min...UInt8.max))
  }

  @Test("of all texts of three letters, those accepted give each pair of bytes once")
  func everyPair() {
    let alphabet = (UInt8.min...UInt8.max).filter { Base64URL.decode([$0, 65]) != nil }
    #expect(alphabet.count == 64)
    var seen = [Bool](repeating: false, count: 65_536)
    var accepted = 0
    for first in alphabet {
      for second in alphabet {
        for third in alphabet {
          guard let bytes = Base64URL.decode([first, second, third]) else { continue }
          seen[Int(bytes[0]) << 8 | Int(bytes[1])] = true
          accepted += 1
        }
      }
    }
    #expect(accepted == 65_536 && seen.allSatisfy { $0 })
  }

  @Test("collections without contiguous storage work like arrays")
  func collections() {
    #expect(Base64URL.decode("Zm9vYg".utf8.reversed().reversed()) == ascii("foob"))
    #expect(Base64URL.decode("xZm9vYgx".utf8.dropFirst().dropLast()) == ascii("foob"))
    #expect(Base64URL.decode(AnyCollection("Zm9vY".utf8)) == nil)
    #expect(Base64URL.encode(AnyCollection(ascii("foob"))) == "Zm9vYg")
    #expect(Base64URL.encode(ascii("xfoob")[1...]) == "Zm9vYg")
  }
}
