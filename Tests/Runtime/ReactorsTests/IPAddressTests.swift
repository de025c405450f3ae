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

@Suite("Which addresses are public")
struct IPAddressReachTests {
  @Test(
    "addresses of one host on the internet are",
    arguments: [
      "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
      "192.167.255.255", "192.169.0.0", "223.255.255.255", "::ffff:8.8.8.8", "2606:4700::1111", "2001:200::1",
      "64:ff9b::808:808",
    ])
  func isPublic(_ text: String) throws {
    let address = try #require(IPAddress(text))
    #expect(address.isPublic && !address.isLoopback)
  }

  @Test(
    "all others are not, in any form",
    arguments: [
      "0.0.0.0", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.255",
      "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.0",
      "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
      "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::127.0.0.1",
      "64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::1",
      "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "4000::1",
    ])
  func isNotPublic(_ text: String) throws {
    #expect(try !#require(IPAddress(text)).isPublic)
  }

  @Test(
    "the machine itself is 127.0.0.0/8 and ::1",
    arguments: [
      ("127.0.0.1", true), ("127.9.9.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("128.0.0.1", false),
      ("126.255.255.255", false), ("0.0.0.0", false), ("::2", false),
    ])
  func loopback(_ text: String, _ isLoopback: Bool) throws {
    #expect(try #require(IPAddress(text)).isLoopback == isLoopback)
  }
}
