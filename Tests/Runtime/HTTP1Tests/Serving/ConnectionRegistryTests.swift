import HTTPTypes
import Reactors
import Synchronization
import TestReactors
import Testing

@testable import HTTP1

@Suite(.timeLimit(.minutes(5))) struct ConnectionRegistryTests {
  @Test(
    "what does not come in time is refused, silence closed without a word, and bytes that trickle in do not help",
    arguments: [
      (\.head, "GET /hello HTTP/1.1\r\n", "HTTP/1.1 408 "), (\.head, "", ""),
      (\.body, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na", "HTTP/1.1 408 "),
      (\.idle, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 "),
      // Slower than its rate, long before its whole time is over.
      (\.bodyGrace, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\na", "HTTP/1.1 408 "),
    ] as [(any WritableKeyPath<HTTPTimeouts, Duration> & Sendable, String, String)])
  func ends(_ timeout: any WritableKeyPath<HTTPTimeouts, Duration> & Sendable, _ sent: String, _ start: String)
    async throws
  {
    var configuration = HTTPServiceConfiguration.short(timeout)
    if timeout == \.bodyGrace { configuration.timeouts.body = .seconds(3600) }
    try await ServiceRig.run(testRoutes(), configuration: configuration) { rig in
      let client = try TestClient(rig.address, sending: sent)
      let answer = await client.readToEnd()
      #expect(start.isEmpty ? answer.isEmpty : answer.hasPrefix(start))
      #expect(!answer.hasSuffix("(still open)"))
    }
  }

  @Test("a peer that does not take its answer is given up")
  func endsUnreadAnswers() async throws {
    let meter = HTTPServiceMeter()
    try await ServiceRig.run(testRoutes(), configuration: .short(\.write), meter: meter) { rig in
      let client = try TestClient(rig.address, sending: "GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
      try await meter.untilOneCameAndWent()
      #expect(await client.readToEnd().utf8.count < 32 * 1024 * 1024)
    }
  }

  @Test("a peer that takes no answers is given up once, however many requests it has sent")
  func endsUnreadPipelines() async throws {
    let calls = Mutex(0)
    var routes = HTTPRoutes()
    routes.add(.get, "/large") { _, _ in
      calls.withLock { $0 += 1 }
      return HTTPServerResponse(status: .ok, body: [UInt8](repeating: 0, count: 32 * 1024 * 1024))
    }
    let meter = HTTPServiceMeter()
    try await ServiceRig.run(routes, configuration: .short(\.write), meter: meter) { rig in
      let client = try TestClient(rig.address)
      client.send(String(repeating: "GET /large HTTP/1.1\r\nHost: a\r\n\r\n", count: 10))
      try await meter.untilOneCameAndWent()
      #expect(calls.withLock { $0 } == 1)
      _ = consume client
    }
  }
}

extension HTTPServiceMeter {
  /// Returns once a connection was made and has ended. It may be so short that nobody sees it open.
  fileprivate func untilOneCameAndWent() async throws {
    try await until {
      let figures = await read()
      return figures.accepted > 0 && figures.open == 0
    }
  }
}

extension HTTPServiceConfiguration {
  /// One time-out so short that a test waits for it; the others as they are.
  static func short(_ timeout: WritableKeyPath<HTTPTimeouts, Duration>) -> HTTPServiceConfiguration {
    var configuration = HTTPServiceConfiguration()
    configuration.timeouts[keyPath: timeout] = .milliseconds(40)
    return configuration
  }
}

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

@Suite struct SweepClockTests {
  /// Sweeps of a second, so that numbers of them can be read as seconds; each time-out has one more.
  private func clock(rate: Int) -> SweepClock {
    var timeouts = HTTPTimeouts()
    timeouts.reserve = .seconds(4)
    timeouts.linger = .seconds(4)
    timeouts.bodyGrace = .seconds(5)
    timeouts.body = .seconds(30)
    timeouts.bodyBytesPerSecondMin = rate
    return SweepClock(timeouts)
  }

  @Test(
    "content has its grace and a second for each second's bytes, and never more than its whole time",
    arguments: [
      (0, 6), (1, 6), (999, 6), (1000, 7), (1999, 7), (24_999, 30), (25_000, 31), (26_000, 31), (1_000_000, 31),
    ])
  func bodyRate(_ received: Int, _ sweeps: Int) {
    #expect(clock(rate: 1000).body(afterReceiving: received) == sweeps)
  }

  @Test("without a rate content has its whole time")
  func noRate() {
    #expect(clock(rate: 0).body(afterReceiving: 0) == 31)
  }

  @Test(
    "sweeps that are shorter than a second's part of a byte change no rate",
    arguments: [(1, 1, 100), (1, 2, 200), (3, 1, 33), (150, 3, 2), (1, Int.max, 3000)])
  func shortSweeps(_ rate: Int, _ received: Int, _ sweeps: Int) {
    var timeouts = HTTPTimeouts()
    timeouts.linger = .milliseconds(40)
    timeouts.bodyBytesPerSecondMin = rate
    let clock = SweepClock(timeouts)
    #expect(clock.interval == .milliseconds(10))
    #expect(clock.body(afterReceiving: received) == min(clock.body, clock.bodyGrace + sweeps))
  }

  @Test("the clock ticks four times within the shortest time-out, at most every second")
  func interval() {
    #expect(clock(rate: 1).interval == .seconds(1))
    #expect(SweepClock(HTTPTimeouts()).interval == .milliseconds(500))
  }
}
