import Testing

@testable import APNSSimulation

@Suite("Base64 for URLs")
struct Base64URLTests {
  @Test(
    "text becomes bytes",
    arguments: [("", []), ("AA", [0]), ("AAE", [0, 1]), ("AAEC", [0, 1, 2]), ("-_-_", [0xFB, 0xFF, 0xBF])])
  func decodes(_ text: String, _ bytes: [UInt8]) {
    #expect(Base64URL.decode(text) == bytes)
  }

  @Test(
    "padding, the other alphabet and impossible lengths are refused", arguments: ["AA==", "+/AA", "A", "AAAAA", "A A"])
  func refuses(_ text: String) {
    #expect(Base64URL.decode(text) == nil)
  }
}
