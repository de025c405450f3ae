import Reactors
import Testing

@testable import HTTP1

@Suite struct ConnectionCensusTests {
  private func census(total: Int = 100, reserve: Int = 0, perPeer: Int = 100) -> ConnectionCensus {
    var limits = ConnectionLimits()
    limits.totalMax = total
    limits.reserveMax = reserve
    limits.perPeerMax = perPeer
    return ConnectionCensus(limits)
  }

  @Test("the last within a limit is admitted, the next goes to the reserve, and beyond that nobody")
  func total() {
    let census = census(total: 2, reserve: 1)
    #expect((0..<4).map { _ in census.admit(nil) } == [.admitted, .admitted, .reserved, .full])
    census.leave(nil, .reserved)
    #expect(census.admit(nil) == .reserved)
    census.leave(nil, .admitted)
    #expect((0..<2).map { _ in census.admit(nil) } == [.admitted, .full])
  }

  @Test(
    "hosts that count as one, and hosts that do not",
    arguments: [
      ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("192.0.2.1", "::ffff:192.0.2.1", true),
      ("2001:db8::1", "2001:db8::ffff:1", true), ("2001:db8::1", "2001:db8:0:1::1", false),
    ])
  func peers(_ one: String, _ other: String, _ isSame: Bool) throws {
    let census = census(perPeer: 2)
    let (one, other) = (try #require(IPAddress(one)), try #require(IPAddress(other)))
    #expect(census.admit(one) == .admitted)
    #expect(census.admit(one) == .admitted)
    #expect(census.admit(other) == (isSame ? .peerFull : .admitted))
    census.leave(one, .admitted)
    #expect(census.admit(other) == .admitted)
  }

  @Test("a peer that may have any number is bounded by the total only")
  func unbounded() {
    let census = census(total: 3, perPeer: 1)
    #expect((0..<4).map { _ in census.admit(nil) } == [.admitted, .admitted, .admitted, .full])
  }

  @Test("a refused connection is not counted")
  func refusalsDoNotCount() throws {
    let census = census(total: 1, perPeer: 1)
    let peer = try #require(IPAddress("192.0.2.1"))
    #expect(census.admit(peer) == .admitted)
    #expect(census.admit(peer) == .full)
    census.leave(peer, .admitted)
    #expect(census.admit(peer) == .admitted)
  }

  @Test("requests of a proxy's client are bounded like connections, and end")
  func clients() throws {
    let census = census(perPeer: 1)
    let client = try #require(IPAddress("192.0.2.1"))
    #expect(census.begin(for: client))
    #expect(!census.begin(for: client))
    census.end(for: client)
    #expect(census.begin(for: client))
  }
}
