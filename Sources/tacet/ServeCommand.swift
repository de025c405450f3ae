import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import ServiceSettings
import UnixSignals

/// `tacet serve`
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Runs the service until SIGTERM or SIGINT, then finishes what it has begun and exits.")

  func run() async throws {
    let settings = try ServeSettings(environment: ProcessInfo.processInfo.environment)
    let logger = settings.log.makeLogger(label: "tacet")
    let service = try await PushService(settings, logger: logger)
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [service], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    try await group.run()
  }
}
