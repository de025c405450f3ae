import Testing

@testable import Settings

@Suite("Listen addresses")
struct ListenAddressTests {
  @Test(
    "a host, a bracketed IPv6 address or a socket path",
    arguments: [
      ("127.0.0.1:8080", ListenAddress.tcp(host: "127.0.0.1", port: 8080)),
      ("0.0.0.0:0", .tcp(host: "0.0.0.0", port: 0)),
      ("localhost:65535", .tcp(host: "localhost", port: 65_535)), ("[::]:80", .tcp(host: "::", port: 80)),
      ("[::ffff:10.0.0.1]:1", .tcp(host: "::ffff:10.0.0.1", port: 1)),
      ("unix:/run/tacet.sock", .unix(path: "/run/tacet.sock")),
      ("unix:/" + String(repeating: "p", count: 106), .unix(path: "/" + String(repeating: "p", count: 106))),
    ])
  func usable(text: String, address: ListenAddress) throws {
    #expect(try ListenAddress(parsing: text) == address)
  }

  @Test(
    "anything else is refused",
    arguments: [
      "", "8080", ":8080", "localhost", "localhost:", "localhost:x", "localhost:-1", "localhost:+1", "localhost:65536",
      "localhost:80:80", "::1:80", "[::1]", "[::1]80", "[::1]:", "[::1:80", "[]:80", "[1.2.3.4]:80", "[:::]:80",
      "a b:80", "http://h:80", "unix:", "unix:run.sock", "unix:/" + String(repeating: "p", count: 107),
    ])
  func unusable(text: String) {
    #expect(throws: UnusableValue.self) { try ListenAddress(parsing: text) }
  }
}

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
