import HTTP2
import PushRules
import Reactors
import TestReactors
import Testing

@testable import Channels

@Suite("A pool of connections")
struct APNSPoolTests {
  @Test("a connection carries one push until APNs has taken one, then as many as it allows")
  func openingUp() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      apns.reply = { _ in .wait }
      let attempts = Attempts()
      try attempts.send(20, over: client, on: reactor)
      try await apns.received(1, on: reactor)
      #expect(apns.requests.count == 1)
      apns.answer(apns.requests[0], 410, #"{"reason":"Unregistered"}"#, on: reactor)
      try await apns.received(20, on: reactor)
      for received in apns.requests[1...] { apns.answer(received, on: reactor) }
      try await attempts.finished(on: reactor)
    }
  }

  @Test("a connection that is refused its first push is not opened up")
  func notOpenedUp() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      apns.reply = { _ in .wait }
      let attempts = Attempts()
      try attempts.send(3, over: client, on: reactor)
      for number in 0..<3 {
        try await apns.received(number + 1, on: reactor)
        #expect(apns.requests.count == number + 1)
        apns.answer(apns.requests[number], 500, #"{"reason":"InternalServerError"}"#, on: reactor)
      }
      try await attempts.finished(on: reactor)
    }
  }

  /// Two connections of four streams, eight pushes under way on them and two that wait.
  private func pressed(
    _ body: @escaping @Sendable (ScriptedAPNs, APNSClient, Attempts, isolated Reactor) async throws -> Void
  ) async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.streamsMax = 4
      try apns.start(on: reactor)
      let client = try await apns.client {
        $0.connectionsMax = 2
        $0.growAfter = .zero
        $0.shrinkAfter = .milliseconds(20)
      }
      _ = await client.send(try APNSRequest.make(99), to: .production, on: reactor)
      apns.reply = { $0.connectionNumber == 0 || apns.connections[1].openStreams > 1 ? .wait : .answer(200, "") }
      let attempts = Attempts()
      try attempts.send(11, over: client, on: reactor)
      try await attempts.finished(1, on: reactor)
      apns.reply = { _ in .wait }
      try await body(apns, client, attempts, reactor)
    }
  }

  @Test(
    "when the streams stay used up another connection is opened, the pushes go where the fewest are, and no third is")
  func growing() async throws {
    try await pressed { apns, client, attempts, reactor in
      try await apns.received(10, on: reactor)
      let unanswered = apns.requests[1...].filter { received in !apns.accepted.contains(received.identifier ?? "") }
      #expect(unanswered.count { $0.connectionNumber == 0 } == 4)
      #expect(unanswered.count { $0.connectionNumber == 1 } == 4)
      #expect(client.connections(to: .production) == 2)
      #expect(client.connectionsOpened(to: .production) == 2)
      apns.reply = { _ in .answer(200, "") }
      for received in unanswered { apns.answer(received, on: reactor) }
      try await attempts.finished(on: reactor)
      #expect(attempts.acceptedCount == 11)
    }
  }

  @Test("a connection that was not needed for long is closed, the last one stays")
  func shrinking() async throws {
    try await pressed { apns, client, attempts, reactor in
      try await apns.received(10, on: reactor)
      apns.reply = { _ in .answer(200, "") }
      for received in apns.requests { apns.answer(received, on: reactor) }
      try await attempts.finished(on: reactor)
      try await apns.closed(1, on: reactor)
      #expect(client.connections(to: .production) == 1)
      // Two periods more, in which the last one could go as well.
      await reactor.sleep(for: .milliseconds(40))
      #expect(client.connections(to: .production) == 1)
      #expect(await client.send(try APNSRequest.make(98), to: .production, on: reactor).disposition == .accepted)
      #expect(client.connectionsOpened(to: .production) == 2)
    }
  }

  @Test("a lowered number of streams is kept to, and no reason for another connection")
  func lowered() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client { $0.growAfter = .zero }
      _ = await client.send(try APNSRequest.make(99), to: .production, on: reactor)
      apns.reply = { received in
        if apns.requests.count == 2 { received.connection.announce([.streamsMax(1)], on: reactor) }
        return .answer(200, "")
      }
      let attempts = Attempts()
      for _ in 0..<5 {
        try attempts.send(20, over: client, on: reactor)
        try await attempts.finished(on: reactor)
      }
      #expect(attempts.acceptedCount == 100)
      #expect(client.connectionsOpened(to: .production) == 1)
    }
  }

  @Test("a silent connection is left to itself: new pushes take another before it is given up")
  func silent() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client {
        $0.http2.silenceBeforePing = .milliseconds(30)
        $0.http2.pingLateAfter = .milliseconds(30)
        $0.http2.pingTimeout = .seconds(30)
      }
      _ = await client.send(try APNSRequest.make(99), to: .production, on: reactor)
      apns.connections[0].fallSilent(on: reactor)
      let attempts = Attempts()
      try attempts.send(1, over: client, on: reactor)
      try await apns.opened(2, on: reactor)
      try attempts.send(5, over: client, on: reactor)
      try await attempts.finished(5, on: reactor)
      #expect(attempts.acceptedCount == 5)
      #expect(attempts.all[0] == nil)
      #expect(client.connections(to: .production) == 1)
      apns.connections[0].closeAbruptly(on: reactor)
      try await attempts.finished(on: reactor)
      guard case .unknown = attempts.all[0] else { throw TestFailure("\(attempts.all)") }
    }
  }

  @Test("near the end of the stream ids a connection is replaced, and no push notices")
  func streamIDs() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client { $0.http2.streamIDMax = 9 }
      let attempts = Attempts()
      try attempts.send(15, over: client, on: reactor)
      try await attempts.finished(on: reactor)
      #expect(attempts.acceptedCount == 15)
      #expect(apns.requests.allSatisfy { $0.request.streamID <= 9 })
      #expect(client.connectionsOpened(to: .production) == 3)
    }
  }

  @Test("connections that end after each push are not opened in a loop")
  func budget() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.reply = { _ in .goAwayAndAnswer }
      try apns.start(on: reactor)
      let client = try await apns.client {
        $0.connectBurst = 3
        $0.connectInterval = .seconds(3600)
      }
      let attempts = Attempts()
      for number in 0..<5 {
        let limit = number < 3 ? Duration.seconds(30) : .milliseconds(200)
        try attempts.send(1, over: client, within: limit, on: reactor)
        try await attempts.finished(on: reactor)
      }
      #expect(attempts.acceptedCount == 3)
      #expect(client.connectionsOpened(to: .production) == 3)
      client.close(on: reactor)
    }
  }
}

@Suite("How many connections a pool wants")
struct PoolDemandTests {
  private func demand(connectionsMax: Int = 3) -> PoolDemand {
    var configuration = APNSConfiguration()
    configuration.connectionsMax = connectionsMax
    configuration.growAfter = .nanoseconds(100)
    return PoolDemand(configuration)
  }

  @Test(
    "one more when seven eighths of the streams have been in use for long enough",
    arguments: [(69, 1000, false), (70, 99, false), (70, 100, true), (80, 100, true)] as [(Int, UInt64, Bool)])
  func growing(inFlight: Int, time: UInt64, isWanted: Bool) {
    var demand = demand()
    #expect(demand.wantsMore(inFlight: inFlight, streams: 80, connections: 1, now: 0) == false)
    #expect(demand.wantsMore(inFlight: inFlight, streams: 80, connections: 1, now: time) == isWanted)
    #expect(demand.wanted == (isWanted ? 2 : 1))
  }

  @Test("a moment without pressure begins the time anew")
  func interrupted() {
    var demand = demand()
    _ = demand.wantsMore(inFlight: 80, streams: 80, connections: 1, now: 0)
    _ = demand.wantsMore(inFlight: 10, streams: 80, connections: 1, now: 50)
    #expect(demand.wantsMore(inFlight: 80, streams: 80, connections: 1, now: 100) == false)
    #expect(demand.wantsMore(inFlight: 80, streams: 80, connections: 1, now: 200) == true)
  }

  @Test("never more than allowed, and none while the last one wanted is not there yet")
  func bounds() {
    var demand = demand(connectionsMax: 3)
    var now: UInt64 = 0
    func press(connections: Int) -> Bool {
      var isMore = false
      for _ in 0..<3 {
        now += 100
        isMore = demand.wantsMore(inFlight: 80, streams: 80, connections: connections, now: now) || isMore
      }
      return isMore
    }
    #expect(press(connections: 1) == true)
    #expect(press(connections: 1) == false)
    #expect(press(connections: 2) == true)
    #expect(press(connections: 3) == false)
    #expect(demand.wanted == 3)
  }

  @Test("connections that APNs does not trust are no reason for more")
  func untrusted() {
    var demand = demand()
    for now in [0, 1000] as [UInt64] {
      #expect(demand.wantsMore(inFlight: 1, streams: 0, connections: 1, now: now) == false)
    }
  }

  @Test(
    "one less after a period in which half of the other streams would have been enough",
    arguments: [(40, true), (41, false)])
  func shrinking(peak: Int, isLess: Bool) {
    var demand = demand()
    _ = demand.wantsMore(inFlight: peak, streams: 160, connections: 2, now: 0)
    _ = demand.wantsMore(inFlight: 0, streams: 160, connections: 2, now: 0)
    #expect(demand.endPeriod(inFlight: 0, otherStreams: 80) == isLess)
    #expect(demand.endPeriod(inFlight: 0, otherStreams: 80) == true)
  }

  @Test("it makes do with what there is, with one at least")
  func settling() {
    var demand = demand()
    _ = demand.wantsMore(inFlight: 80, streams: 80, connections: 1, now: 0)
    _ = demand.wantsMore(inFlight: 80, streams: 80, connections: 1, now: 100)
    demand.settle(for: 5)
    #expect(demand.wanted == 2)
    demand.settle(for: 0)
    #expect(demand.wanted == 1)
  }
}

@Suite("The budget of connects")
struct ConnectBudgetTests {
  private static let second: UInt64 = 1_000_000_000
  private static let start = 1000 * second

  private func budget(spending count: Int, burst: Int = 3) -> ConnectBudget {
    var budget = ConnectBudget(burst: burst, interval: .seconds(2))
    for _ in 0..<count { budget.spend(now: Self.start) }
    return budget
  }

  @Test(
    "a burst goes at once, the next waits for its interval", arguments: [(0, 0), (2, 0), (3, 2), (4, 4)])
  func burst(spent: Int, seconds: Int) {
    #expect(budget(spending: spent).wait(now: Self.start) == .seconds(seconds))
  }

  @Test("time fills it up again, and never beyond the burst")
  func refilling() {
    var budget = budget(spending: 3)
    #expect(budget.wait(now: Self.start + Self.second) == .seconds(1))
    #expect(budget.wait(now: Self.start + 2 * Self.second) == .zero)
    let later = Self.start + 1000 * Self.second
    for _ in 0..<3 {
      #expect(budget.wait(now: later) == .zero)
      budget.spend(now: later)
    }
    #expect(budget.wait(now: later) == .seconds(2))
  }

  @Test("a connection that was worth its opening gives its connect back")
  func refund() {
    var budget = budget(spending: 3)
    budget.refund()
    #expect(budget.wait(now: Self.start) == .zero)
    var unused = ConnectBudget(burst: 1, interval: .seconds(2))
    unused.refund()
    unused.spend(now: Self.start)
    #expect(unused.wait(now: Self.start) == .seconds(2))
  }

  @Test("no minute of the defaults sees more than fifty connects")
  func defaults() {
    let configuration = APNSConfiguration()
    var budget = ConnectBudget(burst: configuration.connectBurst, interval: configuration.connectInterval)
    var connects = 0
    for tick in 0..<600 {
      let now = Self.start + UInt64(tick) * Self.second / 10
      while budget.wait(now: now) == .zero {
        budget.spend(now: now)
        connects += 1
      }
    }
    #expect(connects == 49)
  }
}

@Suite("The wait before a connect")
struct ReconnectBackoffTests {
  @Test(
    "none after a success, then a second doubling to sixty; the draw takes the upper half",
    arguments: [(0, 0), (1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (8, 60), (1000, 60)])
  func doubling(failures: Int, seconds: Int) {
    var backoff = ReconnectBackoff()
    for _ in 0..<failures { backoff.failed() }
    #expect(backoff.wait(draw: 0) == .seconds(seconds) / 2)
    #expect(backoff.wait(draw: 1.0.nextDown) <= .seconds(seconds))
    backoff.succeeded()
    #expect(backoff.wait(draw: 0.5) == .zero)
  }

  @Test("a refused credential takes it to a minute at once, and a success back to none")
  func refused() {
    var backoff = ReconnectBackoff()
    backoff.refused()
    #expect(backoff.wait(draw: 1.0.nextDown) > .seconds(59))
    #expect(backoff.wait(draw: 0) == .seconds(30))
    backoff.succeeded()
    #expect(backoff.wait(draw: 0) == .zero)
  }
}

@Suite("Slow start")
struct SlowStartTests {
  @Test("a pool that works has no bound")
  func unbounded() {
    var slowStart = SlowStart()
    slowStart.succeeded()
    #expect(slowStart.limit == .max)
  }

  @Test("after an outage each round of successes doubles the bound, until it is one connection's streams")
  func doubling() {
    var slowStart = SlowStart()
    slowStart.restart()
    var limits: [Int] = []
    while slowStart.limit < .max {
      let limit = slowStart.limit
      limits.append(limit)
      for _ in 1..<limit { slowStart.succeeded() }
      #expect(slowStart.limit == limit)
      slowStart.succeeded()
    }
    #expect(limits == [16, 32, 64, 128, 256, 512, 1024])
  }

  @Test("five faults in a row are an outage, four with a success behind them are not")
  func faults() {
    var slowStart = SlowStart()
    for _ in 0..<4 { slowStart.failed() }
    slowStart.succeeded()
    for _ in 0..<4 { slowStart.failed() }
    #expect(slowStart.limit == .max)
    slowStart.failed()
    #expect(slowStart.limit == 16)
  }

  @Test("another outage begins at the first round again")
  func again() {
    var slowStart = SlowStart()
    slowStart.restart()
    for _ in 0..<20 { slowStart.succeeded() }
    #expect(slowStart.limit == 32)
    slowStart.restart()
    for _ in 0..<15 { slowStart.succeeded() }
    #expect(slowStart.limit == 16)
  }
}
