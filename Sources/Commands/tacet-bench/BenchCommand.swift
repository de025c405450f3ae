import ArgumentParser

/// The command line of the measurements.
@main
struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tacet-bench", abstract: "Measures Tacet, whole and in parts, and judges what was measured.",
    subcommands: [APNSCommand.self, ServiceCommand.self, ReportCommand.self])
}
