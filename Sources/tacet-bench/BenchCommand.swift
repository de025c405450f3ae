import ArgumentParser

/// The command line of the measurements.
@main
struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tacet-bench", abstract: "Measures parts of Tacet against servers that run already.",
    subcommands: [APNSCommand.self])
}
