import HTTPTypes
import Reactors
import TestReactors
import Testing

@testable import HTTP1

@Suite(.timeLimit(.minutes(5))) struct TrustedProxiesTests {
  @Test(
    "the client is the last address that is no proxy's, and what cannot be read ends the search",
    arguments: [
      (["203.0.113.7"], "203.0.113.7"), (["198.51.100.1, 203.0.113.7"], "203.0.113.7"),
      (["198.51.100.1", "203.0.113.7"], "203.0.113.7"), (["203.0.113.7, 10.0.0.2"], "203.0.113.7"),
      (["203.0.113.7,10.0.0.2 ,\t10.0.0.3"], "203.0.113.7"), (["203.0.113.7, 10.1.0.0"], "10.1.0.0"),
      (["10.0.0.2"], "10.0.0.2"), ([], "10.0.0.1"), ([""], "10.0.0.1"), (["unknown"], "10.0.0.1"),
      (["203.0.113.7, unknown, 10.0.0.2"], "10.0.0.2"), (["203.0.113.7:4711"], "203.0.113.7"),
      (["2001:db8::7"], "2001:db8::7"), (["[2001:db8::7]:4711"], "2001:db8::7"), (["[2001:db8::7]"], "2001:db8::7"),
      (["203.0.113.7:x"], "10.0.0.1"), (["203.0.113.7:+80"], "10.0.0.1"), (["[2001:db8::7"], "10.0.0.1"),
      (["203.0.113.7,"], "10.0.0.1"),
    ])
  func xForwardedFor(_ lines: [String], _ client: String) throws {
    let proxies = try makeProxies(.xForwardedFor)
    let head = try makeHead(lines.map { "X-Forwarded-For: \($0)" } + ["Forwarded: for=192.0.2.66"])
    #expect(proxies.client(of: head, from: IPAddress("10.0.0.1"))?.description == client)
  }

  @Test(
    "the Forwarded field is read by its grammar",
    arguments: [
      ("for=203.0.113.7", "203.0.113.7"), ("For=203.0.113.7;proto=https;by=10.0.0.1", "203.0.113.7"),
      ("proto=https; for=203.0.113.7", "203.0.113.7"), (#"for="203.0.113.7:80""#, "203.0.113.7"),
      (#"for="[2001:db8::7]:80""#, "2001:db8::7"), ("for=198.51.100.1, for=203.0.113.7", "203.0.113.7"),
      ("for=203.0.113.7, for=10.0.0.2", "203.0.113.7"), ("for=_hidden", "10.0.0.1"), ("for=unknown", "10.0.0.1"),
      ("by=203.0.113.7", "10.0.0.1"), ("for=198.51.100.1;for=203.0.113.7", "10.0.0.1"),
      (#"for="203.0.113.7"#, "10.0.0.1"),
      (#"for="a, for=203.0.113.7"#, "203.0.113.7"), ("for=", "10.0.0.1"), (#"for=""#, "10.0.0.1"),
    ])
  func forwarded(_ value: String, _ client: String) throws {
    let proxies = try makeProxies(.forwarded)
    let head = try makeHead(["Forwarded: \(value)", "X-Forwarded-For: 192.0.2.66"])
    #expect(proxies.client(of: head, from: IPAddress("10.0.0.1"))?.description == client)
  }

  @Test(
    "who is trusted",
    arguments: [
      ("10.0.0.0", true), ("10.0.255.255", true), ("9.255.255.255", false), ("10.1.0.0", false), ("::1", false),
    ])
  func trust(_ peer: String, _ isTrusted: Bool) throws {
    #expect(try makeProxies(.forwarded).trusts(IPAddress(peer)) == isTrusted)
  }

  @Test("Unix sockets are trusted when they are named", arguments: [true, false])
  func trustsUnixSockets(_ isTrusted: Bool) {
    #expect(TrustedProxies(includesUnixSockets: isTrusted).trusts(nil) == isTrusted)
  }

  @Test("a handler is told the client by a trusted peer, and the peer by any other", arguments: [true, false])
  func reachesHandlers(_ isTrusted: Bool) async throws {
    var configuration = HTTPServiceConfiguration()
    configuration.proxies.networks = [try #require(IPNetwork(isTrusted ? "127.0.0.0/8" : "10.0.0.0/8"))]
    try await ServiceRig.run(testRoutes(), configuration: configuration) { rig in
      let answer = try await rig.exchange("GET /client HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n")
      #expect(answer.hasSuffix(isTrusted ? "\r\n\r\n203.0.113.7" : "\r\n\r\n127.0.0.1"))
    }
  }

  @Test("a proxy's client has as many requests in progress as it may have; other clients and later ones are served")
  func boundsClients() async throws {
    var configuration = HTTPServiceConfiguration.limited { $0.perPeerMax = 1 }
    configuration.proxies.networks = [try #require(IPNetwork("127.0.0.1"))]
    let gate = Turnstile()
    try await ServiceRig.run(gatedRoutes(gate), configuration: configuration) { rig in
      func request(_ path: String, _ client: String) -> String {
        "GET \(path) HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: \(client)\r\n\r\n"
      }
      let busy = try TestClient(rig.address, sending: request("/gated", "203.0.113.7"))
      await gate.holds()
      let other = try TestClient(rig.address)
      for (client, status) in [("203.0.113.7", 429), ("203.0.113.8", 200), ("203.0.113.7", 429)] {
        other.send(request("/quick", client))
        #expect(await other.readAnswer().hasPrefix("HTTP/1.1 \(status) "))
      }
      gate.open()
      #expect(await busy.readAnswer().hasPrefix("HTTP/1.1 200 "))
      other.send(request("/quick", "203.0.113.7"))
      #expect(await other.readAnswer().hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test("content that is refused at once is no request in progress of a proxy's client any more")
  func forgetsRefusedContent() async throws {
    var configuration = HTTPServiceConfiguration.limited { $0.perPeerMax = 1 }
    configuration.proxies.networks = [try #require(IPNetwork("127.0.0.1"))]
    try await ServiceRig.run(testRoutes(), configuration: configuration) { rig in
      let fields = "Host: a\r\nX-Forwarded-For: 203.0.113.7\r\n"
      let client = try TestClient(rig.address)
      for _ in 0..<3 {
        let content = String(repeating: "x", count: 101)
        client.send("POST /echo HTTP/1.1\r\n\(fields)Content-Length: 101\r\n\r\n\(content)")
        #expect(await client.readAnswer().hasPrefix("HTTP/1.1 413 "))
      }
      let other = try TestClient(rig.address, sending: "GET /hello HTTP/1.1\r\n\(fields)\r\n")
      #expect(await other.readAnswer().hasPrefix("HTTP/1.1 200 "))
    }
  }

  private func makeProxies(_ field: TrustedProxies.Field) throws -> TrustedProxies {
    TrustedProxies(networks: [try #require(IPNetwork("10.0.0.0/16"))], field: field)
  }

  private func makeHead(_ lines: [String]) throws -> RequestHead {
    var parser = RequestHeadParser(limits: HTTPLimits())
    let text = (["GET / HTTP/1.1", "Host: a"] + lines).joined(separator: "\r\n") + "\r\n\r\n"
    return try #require(try parser.parse(Array(text.utf8).span))
  }
}
