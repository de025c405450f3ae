import Testing

@testable import Reactors

@Suite struct IPAddressTests {
  @Test(
    "an address is read and written in its shortest form, and the mapped form of IPv4 is IPv4",
    arguments: [
      ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("::1", "::1"),
      ("::", "::"), ("2001:DB8:0:0::1", "2001:db8::1"), ("::ffff:192.0.2.1", "192.0.2.1"),
    ])
  func reads(_ text: String, _ written: String) throws {
    #expect(try #require(IPAddress(text)).description == written)
  }

  @Test(
    "nothing else is an address",
    arguments: ["", "localhost", "192.0.2", "192.0.2.256", "192.0.2.1:80", "[::1]", "::1%lo", "1.2.3.4 ", "_hidden"])
  func refuses(_ text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test("a socket's address has the same host", arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
  func ofSocket(_ text: String) throws {
    let address = try #require(SocketAddress(numericHost: text, port: 80))
    #expect(IPAddress(address) == IPAddress(text))
  }

  @Test("a Unix socket has no host")
  func ofUnixSocket() throws {
    #expect(IPAddress(try #require(SocketAddress(unixPath: "/run/a.sock"))) == nil)
  }

  @Test(
    "a network contains the addresses with its first bits",
    arguments: [
      ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.0.0.0/8", "9.255.255.255", false),
      ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("0.0.0.0/0", "203.0.113.9", true),
      ("0.0.0.0/0", "::1", false), ("::/0", "::1", true), ("2001:db8::/32", "2001:db8:ffff::", true),
      ("2001:db8::/32", "2001:db9::", false), ("2001:db8::/64", "2001:db8::ffff:0:0:1", true),
      ("2001:db8::/64", "2001:db8:0:1::", false), ("2001:db8::2/127", "2001:db8::3", true),
      ("2001:db8::2/127", "2001:db8::4", false), ("10.0.0.0/8", "::ffff:10.0.0.1", true),
    ])
  func contains(_ network: String, _ address: String, _ isInside: Bool) throws {
    #expect(try #require(IPNetwork(network)).contains(try #require(IPAddress(address))) == isInside)
  }

  @Test(
    "nothing else is a network",
    arguments: ["", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "::/129", "::1/64", "10.0.0.0/+8", "10/8", "a/8"])
  func refusesNetwork(_ text: String) {
    #expect(IPNetwork(text) == nil)
  }

  @Test("a network is written as it is read", arguments: ["10.0.0.0/8", "2001:db8::/32", "192.0.2.1/32", "::/0"])
  func writes(_ text: String) {
    #expect(IPNetwork(text)?.description == text)
  }
}
