import Testing

@testable import Settings

@Suite("Host names")
struct NetworkHostTests {
  @Test(
    "names and IPv4 addresses are taken",
    arguments: ["a", "db_1", "10.0.0.1", "push-1.Example.com", String(repeating: "a", count: 253)])
  func names(text: String) {
    #expect(NetworkHost.isName(text))
  }

  @Test("anything else is not", arguments: ["", "a b", "a/b", "::1", "ä", "a\n", String(repeating: "a", count: 254)])
  func notNames(text: String) {
    #expect(!NetworkHost.isName(text))
  }
}
