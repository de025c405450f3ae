import APNSSimulation
import ArgumentParser
import Logging
import SimulatorCommands
import UnixSignals

@main
struct SimulatorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apns-simulator",
    abstract: "A local APNs that checks, answers and misbehaves like the real one.",
    discussion: SimulatorHelp.text)

  @Option(help: "Where production listens; port 0 takes a free one.")
  var listen = ListenAddress("127.0.0.1", 2197)

  @Option(help: "Where the sandbox listens; not at all when left out.")
  var sandboxListen: ListenAddress?

  @Option(help: "Where the control endpoint listens. It has no authentication: keep it on a loopback address.")
  var control = ListenAddress("127.0.0.1", 2199)

  @Option(help: "A key as KEYID:TEAMID:PATH of a .p8 or a public PEM file; may be repeated.")
  var key: [KeyArgument] = []

  @Option(help: "An app as BUNDLE or BUNDLE:TEAMID; without a team every key may push to it. May be repeated.")
  var bundle: [BundleArgument] = []

  @Flag(help: "Take well-formed device tokens that nobody registered.")
  var acceptAnyToken = false

  @OptionGroup(title: "TLS")
  var tls: TLSOptions

  @Option(help: "A file of registrations and faults, each with its time.")
  var scenario: String?

  @OptionGroup(title: "Streams")
  var streams: StreamOptions

  @OptionGroup(title: "Conduct")
  var conduct: ConductOptions

  @Option(help: "Push records kept in full.")
  var records = PushLog.capacityDefault

  @Option(help: "A file to write the actual addresses into, as JSON, once everything listens.")
  var readyFile: String?

  @Option(help: "trace, debug, info, notice, warning, error or critical.", transform: SimulatorLog.level)
  var logLevel = Logger.Level.info

  func validate() throws {
    guard records > 0 else { throw ValidationError("--records is a number from 1") }
  }

  func run() async throws {
    SimulatorLog.begin(at: logLevel)
    let stop = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let simulator = try APNSSimulator(simulatorConfiguration())
    if let path = tls.caOut { try TextFile.write(simulator.certificateAuthority ?? "", to: path) }
    let addresses = try await simulator.start()
    try Readiness.announce(addresses.json, writingTo: readyFile)
    for await _ in stop { break }
    await simulator.stop()
  }

  private static func scenario(at path: String) throws -> Scenario {
    let text = try TextFile.read(path)
    do throws(ScenarioError) {
      return try Scenario(parsing: text)
    } catch {
      throw ValidationError("\(path): \(error)")
    }
  }

  private func simulatorConfiguration() throws -> APNSSimulatorConfiguration {
    var configuration = APNSSimulatorConfiguration()
    configuration.listeners[.production] = listen.address
    configuration.listeners[.sandbox] = sandboxListen?.address
    configuration.control = control.address
    configuration.identity = try tls.identity()
    for key in key { configuration.registry.register(try key.load()) }
    for bundle in bundle { configuration.registry.registerBundle(bundle.identifier, team: bundle.team) }
    configuration.registry.acceptsAnyToken = acceptAnyToken
    configuration.registry.tokenRate = conduct.tokenRate?.rate
    configuration.conduct = conduct.conduct
    configuration.streams = streams.policy
    configuration.scenario = try scenario.map(Self.scenario)
    configuration.recordsMax = records
    return configuration
  }
}

/// `KEYID:TEAMID:PATH`; the path may hold colons.
struct KeyArgument: ExpressibleByArgument {
  let identifier: String
  let team: String
  let path: String

  init?(argument: String) {
    let parts = argument.split(separator: ":", maxSplits: 2)
    guard parts.count == 3 else { return nil }
    (identifier, team, path) = (String(parts[0]), String(parts[1]), String(parts[2]))
  }

  func load() throws -> ProviderKey {
    let text = try TextFile.read(path)
    guard let publicKey = try? ProviderKey.publicKey(fromPEM: text) else {
      throw ValidationError("\(path) holds no P-256 key in PEM form")
    }
    return ProviderKey(identifier: identifier, team: team, publicKey: publicKey)
  }
}

/// `BUNDLE` or `BUNDLE:TEAMID`.
struct BundleArgument: ExpressibleByArgument {
  let identifier: String
  let team: String?

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    identifier = parts[0]
    team = parts.count == 2 ? parts[1] : nil
  }
}
