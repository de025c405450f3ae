import ArgumentParser
import FoundationEssentials
import Logging
import PushStore
import Settings
import UnixSignals

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
    subcommands: [
      ServeCommand.self, InitCommand.self, MigrateCommand.self, AdoptCommand.self, DoctorCommand.self,
      ExplainCommand.self,
    ])
}

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Runs the service until SIGTERM or SIGINT, then finishes what it has begun and exits.",
    discussion: """
      SIGHUP makes it read its settings again: the apps' keys and the certificate are followed without dropping a \
      push; what else has changed is named in the log and waits for a restart. Settings with a problem change nothing.
      """)

  func run() async throws {
    // Before anything else, or a signal that comes early would end the process where it is.
    let signals = await UnixSignalsSequence(trapping: .sighup, .sigterm, .sigint)
    let environment = ProcessInfo.processInfo.environment
    let settings = try ServeSettings(environment: environment)
    let logger = settings.log.makeLogger(label: "tacet", instance: ServiceInstance.current.id)
    let proxies = UnusedProxies.names(in: environment)
    if !proxies.isEmpty {
      logger.warning(
        "a proxy is not used",
        metadata: ["variables": "\(proxies.joined(separator: " "))", "detail": "\(UnusedProxies.notice)"])
    }
    let supervisor = Supervisor(environment: environment)
    let service = try await PushService(settings, logger: logger, signals: signals, supervisor: supervisor) {
      try ServeSettings(environment: environment)
    }
    try await service.run()
  }
}
