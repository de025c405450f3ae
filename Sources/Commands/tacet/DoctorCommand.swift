import ArgumentParser
import Doctor
import FoundationEssentials
import Logging
import Reactors
import Settings

/// `tacet doctor`
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Looks at everything the service needs, a line each, with what to do about it. Changes nothing.",
    discussion: """
      Reads the settings of `tacet serve` from where that reads them, asks the database and APNs, and may run beside the \
      service. Exits with 0 when all is well or only to be looked at, with 1 when something fails, and with 2 when the \
      settings keep the service from starting; then it tells what it can all the same.
      """)

  @Flag(help: "One JSON object instead of lines.")
  var json = false

  func run() async throws {
    let settings = ExaminedSettings(environment: ProcessInfo.processInfo.environment)
    // What parts of the service would log is said by the findings.
    let logger = Logger(label: "tacet.doctor") { _ in SwiftLogNoOpLogHandler() }
    let diagnosis = try await ReactorGroup.perform { [json] reactor in
      await ServiceExamination(settings, logger: logger).run(on: reactor) { finding in
        if !json { Self.print(Array(finding.line.utf8)) }
      }
    }
    Self.print(json ? diagnosis.json : Array(diagnosis.summary.utf8))
    throw ExitCode(diagnosis.exitCode)
  }

  /// A line at once, also when the output is a pipe.
  private static func print(_ line: [UInt8]) {
    StandardStream.output.say(line + [UInt8(ascii: "\n")])
  }
}
