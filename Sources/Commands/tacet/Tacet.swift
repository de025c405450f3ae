import ArgumentParser

/// The command line.
@main
struct Tacet: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tacet",
    abstract: "Pushes chat messages to people who are not looking, straight from PostgreSQL.",
    discussion: """
      Settings come from the environment, or from a file of KEY=value lines named by TACET_CONFIG, which can hold \
      several apps. A setting that is unknown or unusable stops the start and is named.
      """,
    version: BuildInformation.version,
    subcommands: [ServeCommand.self, MigrateCommand.self, AdoptCommand.self, DoctorCommand.self, ExplainCommand.self])
}
