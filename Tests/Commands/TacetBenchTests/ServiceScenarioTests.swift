import Testing

@testable import tacet_bench

@Suite("A scenario of the service")
struct ServiceScenarioTests {
  @Test(
    "is called what it was asked for as",
    arguments: [
      ("messages-50", .messages(perSecond: 50)), ("messages-1000", .messages(perSecond: 1000)),
      ("sustained", .sustained), ("fanout-1", .fanOut(recipients: 1)), ("fanout-5000", .fanOut(recipients: 5000)),
      ("burst-10000", .burst(messages: 10_000)), ("start", .start),
    ] as [(String, ServiceScenario)])
  func names(name: String, scenario: ServiceScenario) {
    #expect(ServiceScenario(argument: name) == scenario)
    #expect("\(scenario)" == name)
  }

  @Test(
    "is no other",
    arguments: [
      "", "-", "messages", "messages-", "messages-0", "messages-050", "messages-+5",
      "messages-1000001", "fanout", "fanout-", "fanout--1", "burst-1e4", "start-1", "Start",
    ])
  func refused(text: String) {
    #expect(ServiceScenario(argument: text) == nil)
  }

  @Test("five messages to five thousand are enough", arguments: [(1, 20), (4999, 20), (5000, 5), (100_000, 5)])
  func repetitions(recipients: Int, count: Int) {
    #expect(FanOutRun.repetitions(recipients: recipients) == count)
  }

  @Test("subjects take turns in who is first", arguments: [(1, "abc"), (2, "bca"), (3, "cab"), (4, "abc")])
  func turns(round: Int, order: String) {
    #expect(String(ServiceRuns.turns(of: Array("abc"), inRound: round)) == order)
  }

  @Test("a burst's statements have one row, a hundred, or all", arguments: zip(BurstInsert.allCases, [1, 100, 730]))
  func rows(insert: BurstInsert, rows: Int) {
    #expect(insert.rows(of: 730) == rows)
  }
}
