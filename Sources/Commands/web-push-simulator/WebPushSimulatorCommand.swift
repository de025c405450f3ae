import ArgumentParser
import Logging
import Reactors
import SimulatorCommands
import UnixSignals
import WebPushSimulation

/// The command line of the simulator.
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

  @Option(help: "A PEM file with the server's certificate and its intermediates; else a private authority is made.")
  var certificate: String?

  @Option(help: "A PEM file with the certificate's key.")
  var privateKey: String?

  @Option(help: "A file to write the private authority's certificate into, for clients to trust.")
  var caOut: String?

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
    guard (certificate == nil) == (privateKey == nil) else {
      throw ValidationError("--certificate and --private-key belong together")
    }
    guard certificate == nil || caOut == nil else {
      throw ValidationError("--ca-out is for the private authority, which --certificate replaces")
    }
  }

  func run() async throws {
    SimulatorLog.begin(at: logLevel)
    let stop = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let group = try ReactorGroup(count: 1, name: "simulator")
    let simulator = try await WebPushSimulator.start(simulatorConfiguration(), on: group.reactors[0])
    if let caOut { try TextFile.write(simulator.certificateAuthority ?? "", to: caOut) }
    try Readiness.announce(simulator.json, writingTo: readyFile)
    for await _ in stop { break }
    await simulator.stop()
    await group.stop()
  }

  private func simulatorConfiguration() throws -> WebPushSimulatorConfiguration {
    var configuration = WebPushSimulatorConfiguration()
    configuration.address = listen.address
    configuration.control = control.address
    configuration.face = face
    configuration.recordsMax = records
    if let certificate, let privateKey {
      configuration.identity = .pem(
        certificate: try TextFile.read(certificate), key: try TextFile.read(privateKey))
    }
    return configuration
  }
}
