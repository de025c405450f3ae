import Foundation
import TestProcesses
import TestRepository
import Testing

/// The program that judges what `tacet-bench` has measured.
@Suite("deploy/bench's report")
struct ReportTests {
  /// A run in a round, with one figure or several.
  private struct Run: Encodable {
    var scenario: String
    var subject = "tacet"
    var round = 1
    var figures: [String: Double]
  }

  private static let script = Repository.root.appending(path: "deploy/lib/bench/report.py").path

  @Test("has targets, comparisons and figures, of medians and of ratios within each round")
  func text() throws {
    let runs =
      [0.5, 1.234, 12.34].enumerated().map {
        Run(scenario: "messages-300", round: $0 + 1, figures: ["accepted_p50_ms": $1])
      }
      + [
        Run(scenario: "http-server", subject: "nginx", figures: ["requests_per_second": 100_000]),
        Run(scenario: "http-server", figures: ["requests_per_second": 123_456]),
        Run(scenario: "messages-300", subject: "rows-10m", figures: ["accepted_p50_ms": 0.55]),
        Run(scenario: "messages-300", subject: "rows-10m", round: 2, figures: ["accepted_p50_ms": 1.234]),
      ]
    // Columns are as wide as their widest cell.
    let text = try report(of: runs).replacing(/\ {2,}/, with: "  ")
    for line in [
      "commit to accepted at 300/s, p50  <= 0.6 ms  1.23 (0.500 … 12.3)  NO",
      "HTTP server over nginx, requests/s  >= 1.15  1.23  yes",
      "10 million rows over empty, p50 at 300/s  <= 1.15  1.05 (1.00 … 1.10)  yes",
      "start to ready  <= 40 ms  -  not measured",
      "http-server  requests_per_second  tacet / nginx  1.23",
      "messages-300  accepted_p50_ms  rows-10m / tacet  1.05 (1.00 … 1.10)",
      "http-server  nginx  requests_per_second  100000",
    ] { #expect(text.contains("\n\(line)\n"), "\(line) in \(text)") }
  }

  @Test(
    "a record is kept until a ratio is more than 15 % worse, and in every round worse than all recorded ones",
    arguments: [
      ([100], [115], true), ([100], [115.1], false), ([100], [50], true), ([90, 100, 120], [120, 150, 160], true),
      ([90, 100, 120], [121, 150, 160], false), ([100], [], false),
    ] as [([Double], [Double], Bool)])
  func check(recorded: [Double], measured: [Double], isKept: Bool) throws {
    let ratios = NSTemporaryDirectory() + "\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: ratios) }
    _ = try report(of: clientRuns(recorded), ["--record", ratios])
    if isKept {
      #expect(try report(of: clientRuns(measured), ["--check", ratios]).contains("kept"))
    } else {
      #expect { try report(of: clientRuns(measured), ["--check", ratios]) } throws: {
        "\($0)".contains(measured.isEmpty ? "not measured: APNs client" : "regressed: APNs client")
      }
    }
  }

  @Test("missed targets fail with --strict alone, and facts are in the JSON")
  func strict() throws {
    let runs = [Run(scenario: "start", figures: ["ready_ms": 41])]
    let json = NSTemporaryDirectory() + "\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: json) }
    _ = try report(of: runs, ["--json", json, "--fact", "model=A=B"])
    let document = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: json))) as? [String: Any]
    #expect(document?["facts"] as? [[String: String]] == [["name": "model", "value": "A=B"]])
    #expect { try report(of: runs, ["--strict"]) } throws: {
      "\($0)".contains("missed: start to ready: 41.0 instead of <= 40 ms")
    }
  }

  @Test("what is no run, and a figure that is there twice, are named")
  func unreadable() throws {
    #expect { try report(ofLines: "\n{}\n") } throws: { "\($0)".contains("line 2 is no run") }
    let run = Run(scenario: "start", figures: ["ready_ms": 1])
    #expect { try report(of: [run, run]) } throws: {
      "\($0)".contains("ready_ms of tacet in start, round 1, is there twice")
    }
  }

  @Test("judges scenarios that deploy/bench has")
  func scenarios() throws {
    let table = try #require(
      try Repository.text("deploy/lib/bench/runs.sh").firstMatch(of: /bench_scenarios='\n([^']*)'/)
    ).1
    let measured = table.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
    let program = """
      import sys; sys.path.insert(0, sys.argv[1]); import report
      pairs = [target[1] for target in report.TARGETS] + [ratio[1:] for ratio in report.RATIOS]
      print(*{path[0] for pair in pairs for path in (pair if isinstance(pair[0], tuple) else [pair])})
      """
    let folder = (Self.script as NSString).deletingLastPathComponent
    let judged = try run(["/usr/bin/env", "python3", "-B", "-c", program, folder]).split { $0 == " " || $0 == "\n" }
    #expect(judged.count > 5)
    #expect(Set(judged.map(String.init)).subtracting(measured) == [])
  }

  /// Of the APNs client in rounds, beside an h2load that takes a microsecond for a request.
  private func clientRuns(_ costs: [Double]) -> [Run] {
    zip(1..., costs).flatMap { round, cost in
      [("tacet", cost), ("h2load", 1)].map { subject, cost in
        Run(scenario: "apns-client", subject: subject, round: round, figures: ["cpu_us_per_request": cost])
      }
    }
  }

  private func report(of runs: [Run], _ options: [String] = []) throws -> String {
    let lines = try runs.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
    return try report(ofLines: lines.joined(separator: "\n"), options)
  }

  /// - Throws: what the program says when it fails.
  private func report(ofLines lines: String, _ options: [String] = []) throws -> String {
    let file = NSTemporaryDirectory() + "\(UUID().uuidString).jsonl"
    try lines.write(toFile: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: file) }
    return try run(["/usr/bin/env", "python3", Self.script, file] + options)
  }
}
