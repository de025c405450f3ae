import Testing

@testable import Settings

@Suite("Service origins")
struct ServiceOriginTests {
  @Test(
    "a host and perhaps a port",
    arguments: [
      ("https://api.push.apple.com", ServiceOrigin(host: "api.push.apple.com", port: 443)),
      ("https://127.0.0.1:2197", ServiceOrigin(host: "127.0.0.1", port: 2197)),
      ("HTTPS://h:1/", ServiceOrigin(host: "h", port: 1)),
      ("https://[::1]:2197", ServiceOrigin(host: "::1", port: 2197)),
    ])
  func usable(text: String, origin: ServiceOrigin) throws {
    #expect(try ServiceOrigin(parsing: text) == origin)
  }

  @Test(
    "anything else is refused",
    arguments: [
      "", "h", "h:443", "//h", "http://h", "https://", "https://:443", "https://h:0", "https://h:65536", "https://h:x",
      "https://h/3/device", "https://h?q", "https://h#f", "https://me@h", "https://a b", "https://h\n",
    ])
  func unusable(text: String) {
    #expect(throws: UnusableValue.self) { try ServiceOrigin(parsing: text) }
  }
}
