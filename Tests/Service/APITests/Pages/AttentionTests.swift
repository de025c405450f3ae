import Testing

@testable import API
@testable import PushStore

@Suite("What needs attention")
struct AttentionTests {
  /// Queues in which nothing waits but for what a case says.
  private func items(
    oldest: Duration? = nil, nextHold: Duration? = nil, nextRetry: Duration? = nil, parked: Int = 0
  ) -> [String] {
    let queues = QueueOverview(
      inbox: 1, oldestAge: oldest, holds: 1, nextHold: nextHold, retries: 1, nextRetry: nextRetry, hasMoreWork: false,
      parked: parked)
    let instance = LiveInstance(host: "a", processID: 1, version: "1.0", startedAt: 0, seenAge: .zero)
    let overview = ServiceOverview(
      ledger: LedgerFigures(), queues: queues, lanes: [], parked: [], instances: [instance], newest: [])
    return Attention(overview: overview, routes: [], faults: []).items.map(\.markup)
  }

  @Test("what waits for ten seconds longer than it should does, and nothing before")
  func queues() {
    #expect(items() == [])
    #expect(items(oldest: .milliseconds(9999), nextHold: .milliseconds(-9999), nextRetry: .milliseconds(-9999)) == [])
    #expect(items(oldest: .seconds(10)) == ["The oldest event has been in the inbox for 10 s."])
    #expect(items(nextHold: .seconds(-10)) == ["The first held push was to be looked at 10 s ago."])
    #expect(items(nextRetry: .seconds(-120)) == ["The first retry was due 2 min ago."])
    #expect(items(nextHold: .seconds(60), nextRetry: .seconds(60)) == [])
    #expect(items(parked: 1) == ["<a href=\"#parked\">1 set aside</a>: they cannot succeed."])
  }

  @Test("what a process says of itself is taken over, but for its routes and what is well")
  func faults() {
    let checks = [
      ReadinessCheck("listen", isReady: true, detail: "not used"), ReadinessCheck("process", isReady: false),
      ReadinessCheck("apns a/production", isReady: false),
    ]
    #expect(ProcessFault.all(checks) == [ProcessFault(name: "process", detail: nil)])
  }

  @Test("a shadow is told although it is ready: else all would be called well while nothing is sent")
  func shadow() {
    let check = ReadinessCheck(ReadinessCheck.shadow, isReady: true, detail: "SHADOW is true")
    #expect(ProcessFault.all([check]) == [ProcessFault(name: "shadow", detail: "SHADOW is true")])
  }
}
