import ArgumentParser
import Foundation
import Testing

@testable import tacet_bench

@Suite("tacet-bench report")
struct ReportCommandTests {
  @Test(
    "a record is written, kept by the same runs, and not kept by worse ones",
    arguments: [(100, true), (115, true), (115.1, false)])
  func check(cost: Double, isGood: Bool) throws {
    try withFolder { folder in
      let first = try runs(cost: 100, in: folder)
      try ReportCommand.parse([first, "--record", "\(folder)/ratios.json"]).run()
      let second = try runs(cost: cost, in: folder)
      let check = try ReportCommand.parse([second, "--check", "\(folder)/ratios.json"])
      if isGood {
        try check.run()
      } else {
        #expect(throws: ExitCode.failure) { try check.run() }
      }
    }
  }

  @Test("missed targets fail with --strict only")
  func strict() throws {
    try withFolder { folder in
      let runs = try runs(rate: 69, in: folder)
      try ReportCommand.parse([runs]).run()
      #expect(throws: ExitCode.failure) { try ReportCommand.parse([runs, "--strict"]).run() }
    }
  }

  @Test("the report is written as JSON, with the facts")
  func files() throws {
    try withFolder { folder in
      let runs = try runs(in: folder)
      let options = ["--json", "\(folder)/a.json", "--fact", "model=A=B"]
      try ReportCommand.parse([runs] + options).run()
      let json = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: "\(folder)/a.json")))
      #expect((json as? [String: Any])?["facts"] as? [[String: String]] == [["name": "model", "value": "A=B"]])
    }
  }

  @Test("a fact has a name and a value", arguments: ["model", "=", "model="])
  func facts(text: String) {
    #expect(throws: (any Error).self) { try ReportCommand.parse(["runs", "--fact", text]) }
  }

  /// Of the APNs client, beside an h2load that takes 100 µs for a request, and has 100 requests a second.
  private func runs(rate: Double = 80, cost: Double = 100, in folder: String) throws -> String {
    let path = "\(folder)/\(rate)-\(cost).jsonl"
    let runs = [("h2load", 100, 100), ("tacet", rate, cost)].map { subject, rate, cost in
      BenchRun(
        scenario: "apns-client", subject: subject, round: 1,
        figures: ["requests_per_second": rate, "cpu_us_per_request": cost])
    }
    let lines = try runs.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
    try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.path)
  }
}
