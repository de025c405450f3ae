import ArgumentParser
import FoundationEssentials

@main
struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tacet-bench", abstract: "Measures Tacet, whole and in parts, and judges what was measured.",
    subcommands: [APNSCommand.self, ServiceCommand.self, ReportCommand.self])
}

/// `tacet-bench report`: judges the runs of a measurement.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Judges the runs of a measurement: targets, recorded ratios, all figures.",
    discussion: """
      Reads files with a run on each line, as `tacet-bench service` prints them.
      Fails with --check when a recorded ratio is worse by more than 15 % or was
      not measured, and with --strict when a target was missed.
      """)

  @Argument(help: "Files of runs.", completion: .file())
  var runs: [String]

  @Option(help: "Write the whole report here as JSON.")
  var json: String?

  @Option(help: "Compare with the ratios recorded in this file.")
  var check: String?

  @Option(help: "Record the ratios of this run here.")
  var record: String?

  @Option(help: "Something about the machine, NAME=VALUE; may be repeated.", transform: Self.fact)
  var fact: [Fact] = []

  @Flag(help: "Fail when a target was missed.")
  var strict = false

  func run() throws {
    let text = try runs.map { try String(contentsOfFile: $0, encoding: .utf8) }.joined(separator: "\n")
    let runs = try BenchRuns(lines: text)
    let report = BenchReport(runs, facts: fact, records: try records())
    print(report.text, terminator: "")
    try write(try report.json(), to: json)
    try write(try RecordedRatio.json(RecordedRatio.all(in: runs)), to: record)
    for complaint in report.complaints { Progress.say(complaint) }
    guard report.keepsRecords, report.missesNothing || !strict else { throw ExitCode.failure }
  }

  private func records() throws -> [RecordedRatio] {
    guard let check else { return [] }
    return try RecordedRatio.all(json: try String(contentsOfFile: check, encoding: .utf8))
  }

  private func write(_ text: String, to path: String?) throws {
    guard let path else { return }
    try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
  }

  private static func fact(_ text: String) throws -> Fact {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { throw ValidationError("\(text) is not NAME=VALUE") }
    return Fact(name: parts[0], value: parts[1])
  }
}
