import ArgumentParser
import Logging
import SimulatorCommands
import WebPushSimulation

@main
struct WebPushSimulatorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "web-push-simulator",
    abstract: "A local Web Push service, with browsers, that checks, answers and misbehaves like the real ones.",
    discussion: WebPushSimulatorHelp.text)

  @Option(help: "Where senders connect, with TLS; port 0 takes a free one.")
  var listen = ListenAddress("127.0.0.1", 8443)

  @Option(help: "Where the control endpoint listens. It has no authentication: keep it on a loopback address.")
  var control = ListenAddress("127.0.0.1", 8444)

  @Option(help: "The service of subscriptions that name none: mozilla, apple, fcm or wns.", transform: Self.face)
  var face = PushServiceFace.mozilla

  @OptionGroup
  var tls: TLSOptions

  @Option(help: "Push records kept in full.")
  var records = 10_000

  @Option(help: "A file to write the actual addresses into, as JSON, once everything listens.")
  var readyFile: String?

  @Option(help: "trace, debug, info, notice, warning, error or critical.", transform: SimulatorLog.level)
  var logLevel = Logger.Level.info

  private static func face(_ name: String) throws -> PushServiceFace {
    guard let face = PushServiceFace(rawValue: name) else { throw ValidationError("\(name) is no service") }
    return face
  }

  func validate() throws {
    guard records > 0 else { throw ValidationError("--records is a number from 1") }
  }

  func run() async throws {
    try await SimulatorProcess.run(at: logLevel, writingTo: readyFile) { reactor in
      let simulator = try await WebPushSimulator.start(simulatorConfiguration(), on: reactor)
      if let path = tls.caOut { try TextFile.write(simulator.certificateAuthority ?? "", to: path) }
      return (simulator.json, simulator.stop)
    }
  }

  private func simulatorConfiguration() throws -> WebPushSimulatorConfiguration {
    var configuration = WebPushSimulatorConfiguration()
    configuration.address = listen.address
    configuration.control = control.address
    configuration.face = face
    configuration.recordsMax = records
    if let (certificate, key) = try tls.files() { configuration.identity = .pem(certificate: certificate, key: key) }
    return configuration
  }
}
