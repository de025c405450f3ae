import ArgumentParser
import FoundationEssentials
import Logging
import Operations
import Reactors
import Settings

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Looks at everything the service needs, a line each, with what to do about it. Changes nothing.",
    discussion: """
      Reads the settings of `tacet serve` from where that reads them, asks the database and APNs, and may run beside the \
      service. Exits with 0 when all is well or only to be looked at, with 1 when something fails, and with 2 when the \
      settings keep the service from starting; then it tells what it can all the same.
      """)

  /// Between two looks of `--watch`: each takes some seconds at most, and asks APNs with a push to nobody.
  private static let watchPause = Duration.seconds(30)

  @Flag(help: "One JSON object instead of lines.")
  var json = false

  @Flag(help: "Looks again every 30 seconds until it is stopped, and prints what gets better or worse, with the time.")
  var watch = false

  func validate() throws {
    if json && watch { throw ValidationError("--watch prints lines: it does not go with --json.") }
  }

  func run() async throws {
    var diagnosis = try await look(printing: !json)
    Self.print(json ? diagnosis.json : Array(diagnosis.summary.utf8))
    while watch {
      try await Task.sleep(for: Self.watchPause)
      let next = try await look(printing: false)
      for finding in next.changes(since: diagnosis) {
        Self.print(Array("\(Date.now.formatted(.iso8601))  \(finding.line)".utf8))
      }
      diagnosis = next
    }
    throw ExitCode(diagnosis.exitCode)
  }

  private func look(printing: Bool) async throws -> Diagnosis {
    let settings = ExaminedSettings(environment: ProcessInfo.processInfo.environment)
    return try await ServiceExamination.run(settings) { if printing { Self.print(Array($0.line.utf8)) } }
  }

  /// A line at once, also when the output is a pipe.
  private static func print(_ line: [UInt8]) {
    StandardStream.output.say(line + [UInt8(ascii: "\n")])
  }
}

extension ServiceExamination {
  /// Runs every check on a separate reactor, without a log: what parts of the service would log is said by the findings.
  static func run(
    _ settings: ExaminedSettings, tell: @escaping @Sendable (CheckFinding) -> Void = { _ in }
  ) async throws -> Diagnosis {
    let logger = Logger(label: "tacet.doctor") { _ in SwiftLogNoOpLogHandler() }
    return try await ReactorGroup.perform { await ServiceExamination(settings, logger: logger).run(on: $0, tell: tell) }
  }
}
