import Foundation
import PushStore
import Testing

@testable import ReadBench

@Suite("What tacet bench prints")
struct BenchFiguresTests {
  private let plan = BenchPlan(messages: 100, seconds: 20, concurrency: 4, rate: 100, limitMicroseconds: 500)

  @Test("a page with a line for each figure")
  func page() {
    let page = BenchFigures.sample().text(plan)
    let expected = """
      PostgreSQL 15.6 at db.internal, as role app (the migrator's). Nothing is written.
      The 100 newest messages of public.messages; 0 of them gone or for nobody.

                                            count      p50      p99     most
      round trip                              100   100 µs   200 µs   200 µs
      tacet.message_context                   100    10 µs    20 µs    20 µs
      tacet.seen_by                           100    30 µs    40 µs    40 µs
      tacet.is_mentioned                     none                           
      recipients of a message                 100        2      250      250
      targets of a message                    100        3      251      251
      read of a message                       100   300 µs   700 µs   700 µs
      the same, 4 sessions at once            100   900 µs   1.5 ms   1.5 ms

      4 sessions read 4000 messages a second. Estimate: 100 messages a second take 2.5 % of that.
      Recording the pushes comes on top of it.

      To look at:
      - The read of a message takes 700 µs at p99, longer than 500 µs.

      """
    #expect(page == expected)
  }

  @Test("a run that was cut short, of a role that only reads, where nothing was read")
  func cutShort() {
    var figures = BenchFigures.sample()
    figures.server = MeasuredServer(
      version: 170_001, isStandby: true, role: "reader", bypassesRowSecurity: true, ownsSchema: false, mayServe: false)
    (figures.host, figures.source, figures.measured, figures.gone) = ("", .ledger, 60, 3)
    (figures.alone, figures.together, figures.readsPerSecond) = (nil, nil, 0)
    let lines = figures.text(BenchPlan(messages: 100, seconds: 1, concurrency: 4, rate: 1)).split(separator: "\n")
    #expect(
      lines[0] == """
        PostgreSQL 17.1, a standby, at the server, as role reader (neither the service's nor the migrator's, without row-level \
        security). Nothing is written.
        """)
    #expect(lines[1] == "60 of the 100 newest messages of the ledger; 3 of them gone or for nobody.")
    #expect(lines.contains("No message was read, so nothing is estimated."))
    #expect(lines.last == "Nothing stands out.")
  }

  @Test(
    "whose role it is",
    arguments: [(true, true, "the migrator's"), (false, true, "the service's"), (false, false, "neither")])
  func roles(_ ownsSchema: Bool, _ mayServe: Bool, _ words: String) {
    let server = MeasuredServer(version: 150_006, role: "app", ownsSchema: ownsSchema, mayServe: mayServe)
    #expect(server.words.hasPrefix("app (\(words)"))
  }

  @Test("one JSON object with the same figures")
  func json() throws {
    let json = try JSONSerialization.jsonObject(with: Data(BenchFigures.sample().json(plan)))
    let object = try #require(json as? [String: Any])
    #expect(object["role"] as? String == "app")
    #expect((object["read"] as? [String: Int]) == ["count": 100, "p50": 300, "p99": 700, "most": 700])
    let functions = try #require(object["functions"] as? [[String: Any]])
    #expect(functions.map { $0["name"] as? String } == ["message_context", "seen_by", "is_mentioned"])
    #expect(functions[0]["worst"] as? String == "look at m")
    #expect(functions[2]["times"] == nil)
    #expect(object["reads_per_second"] as? Int == 4000)
    #expect(object["estimated_percent"] as? Double == 2.5)
    #expect((object["findings"] as? [String])?.count == 1)
    #expect(object["exit_code"] as? Int == 1)
  }
}
