import APNS
import Testing

@testable import tacet_bench

@Suite("The server's address")
struct ServerAddressTests {
  @Test(
    "is an https URL of a host and perhaps a port",
    arguments: [
      ("https://127.0.0.1:2197", "127.0.0.1", 2197), ("https://api.push.apple.com", "api.push.apple.com", 443),
      ("https://localhost:1/", "localhost", 1), ("https://[::1]:65535", "::1", 65535),
    ] as [(String, String, UInt16)])
  func taken(text: String, host: String, port: UInt16) {
    #expect(ServerAddress(argument: text)?.endpoint == APNSEndpoint(host: host, port: port))
  }

  @Test(
    "is nothing else",
    arguments: [
      "", "127.0.0.1:2197", "http://127.0.0.1:2197", "https://", "https://host:0", "https://host:65536",
      "https://host:1/path", "https://host:1?query=1",
    ])
  func refused(text: String) {
    #expect(ServerAddress(argument: text) == nil)
  }
}
