import Foundation
import TestRepository
import Testing
import tacet_bench

@Suite("deploy/bench")
struct BenchScriptTests {
  @Test("its scenarios are those that targets and ratios know")
  func scenarios() throws {
    let script = try Repository.text("deploy/lib/bench-runs.sh")
    let table = try #require(script.firstMatch(of: /bench_scenarios='\n([^']*)'/)).1
    let names = table.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(names.sorted() == BenchScenario.all.sorted())
  }

  @Test(
    "its subjects are those that reports know", arguments: ["tacet", "against", "rows-100k", "rows-1m", "rows-10m"])
  func subjects(name: String) throws {
    let known = [
      BenchSubject.tacet, BenchSubject.against, BenchSubject.hundredThousandRows, BenchSubject.millionRows,
      BenchSubject.tenMillionRows,
    ]
    #expect(known.contains(name))
    #expect(try Repository.text("deploy/bench").contains(name))
  }
}
