import Testing

@testable import Channels

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
