import ArgumentParser

@main
struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tacet-bench",
    abstract: "Measures Tacet, whole and in parts, for deploy/bench, which judges what was measured.",
    subcommands: [APNSCommand.self, ServiceCommand.self])
}
