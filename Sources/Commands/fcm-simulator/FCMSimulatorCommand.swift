import ArgumentParser
import FCMSimulation
import Logging
import SimulatorCommands

@main
struct FCMSimulatorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fcm-simulator",
    abstract: "A local FCM for development, tests and demos.",
    discussion: FCMSimulatorHelp.text)

  @Option(help: "Where both of Google's endpoints listen; port 0 takes a free one.")
  var listen = ListenAddress("127.0.0.1", 2400)

  @Option(help: "Where the control endpoint listens. Without authentication: keep it on a loopback address.")
  var control = ListenAddress("127.0.0.1", 2401)

  @Option(help: "A service account's JSON file, whose assertions are accepted. May be repeated.")
  var serviceAccount: [String] = []

  @Option(help: "A file to write a new service account into, whose token endpoint is this simulator.")
  var accountOut: String?

  @Option(help: "The project of the new service account.")
  var project = "demo-project"

  @Option(help: "A further audience that assertions may have. May be repeated.")
  var audience: [String] = []

  @Flag(help: "Register a well-formed unknown token by its first message.")
  var acceptAnyToken = false

  @Option(help: "Records of messages kept.")
  var records = 10_000

  @Option(help: "A file to write the actual addresses into, as JSON, once it listens.")
  var readyFile: String?

  @Option(help: "trace, debug, info, notice, warning, error or critical.", transform: SimulatorLog.level)
  var logLevel = Logger.Level.info

  func validate() throws {
    guard records > 0 else { throw ValidationError("--records is a number from 1") }
    guard project.wholeMatch(of: /[a-z][a-z0-9-]{3,62}/) != nil else {
      throw ValidationError("--project has 4 to 63 lower-case letters, digits and hyphens")
    }
  }

  func run() async throws {
    try await SimulatorProcess.run(at: logLevel, writingTo: readyFile) { reactor in
      let simulator = try await FCMSimulator.start(simulatorConfiguration(), on: reactor)
      if let accountOut { try TextFile.write(simulator.makeServiceAccount(project: project), to: accountOut) }
      return (simulator.json, simulator.stop)
    }
  }

  private func simulatorConfiguration() throws -> FCMSimulatorConfiguration {
    var configuration = FCMSimulatorConfiguration()
    configuration.address = listen.address
    configuration.controlAddress = control.address
    configuration.serviceAccounts = try serviceAccount.map { try TextFile.read($0) }
    configuration.audiences = Set(audience)
    configuration.acceptsAnyToken = acceptAnyToken
    configuration.recordsMax = records
    return configuration
  }
}
