import BenchReports
import FoundationEssentials
import Testing

@Suite struct BenchRunTests {
  @Test func aRunIsALineOfJSON() throws {
    let run = BenchRun(scenario: "start", subject: "tacet", round: 2, figures: ["ready_ms": 41.5])
    let line = #"{"scenario":"start","subject":"tacet","round":2,"figures":{"ready_ms":41.5}}"#
    #expect(try JSONDecoder().decode(BenchRun.self, from: Data(line.utf8)) == run)
  }
}
