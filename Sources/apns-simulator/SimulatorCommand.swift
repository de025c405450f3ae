import APNSSimulation
import ArgumentParser
import Glibc
import Logging
import UnixSignals

/// The command line of the simulator.
@main
struct SimulatorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apns-simulator",
    abstract: "A local APNs that checks, answers and misbehaves like the real one.",
    discussion: """
      It speaks HTTP/2 over TLS and judges each push as Apple's service does:
      provider token, headers, topic, size, device token. Each refusal has
      Apple's reason. What it does not know, it refuses: so name a key and an
      app, and register device tokens, or accept any:

        apns-simulator --key ABC123DEFG:DEF123GHIJ:AuthKey.p8 \\
          --bundle com.example.app --accept-any-token --ca-out ca.pem

      The sender then needs the address, https://127.0.0.1:2197, and the
      authority to trust, ca.pem.

      The rest is said to the control endpoint, in plain HTTP and JSON:

        PUT /tokens/TOKEN   {"environment": "production", "bundle_id": "..."}
                            and, if wanted, "unregistered_at_ms",
                            "expired_at_ms", "delay_ms", "answers":
                            [{"status": 503, "reason": "...", "times": 2}]
        GET /tokens         and DELETE /tokens/TOKEN
        GET /pushes         ?after=N&limit=&token=&collapse_id=&apns_id=
        GET /pushes/wait    ?count=N&timeout_ms=  until N pushes have come
        DELETE /pushes      forgets pushes, counters and screens
        GET /screen         what devices show, and how often each line came
        GET /lint           what was accepted and should not have been sent
        GET /connections    and GET /healthz
        POST /keys          {"key_id", "team_id", "pem"} and, if wanted,
                            "environment", "topics", "related_key_id"
        POST /clock         {"advance_ms": 3600000}
        POST /faults        {"kind": "goaway", "skip": 10, "times": 1}
        DELETE /faults      forgets those that wait

      Kinds of faults: goaway ("last_stream": current, previous, none, all or
      "7"; "code"; "debug"), drop_before, drop_after, black_hole,
      refuse_stream, reset_stream ("code"), streams ("streams": a limit). Each
      lets "skip" requests pass, then hits "times", which is 1. With
      "now": true it happens to every open connection at once.

        curl -X PUT localhost:2199/tokens/00ff -d \\
          '{"environment": "production", "bundle_id": "com.example.app"}'
        curl 'localhost:2199/pushes/wait?count=1'

      SIGTERM and SIGINT stop it.
      """)

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

  @Option(help: "Streams that a connection may have open once a push was accepted.")
  var streams = 1000

  @Flag(help: "Allow all streams from the start, and after refusals.")
  var fixedStreams = false

  @Option(help: "Push records kept in full.")
  var records = PushLog.capacityDefault

  @Option(help: "A file to write the actual addresses into, as JSON, once everything listens.")
  var readyFile: String?

  @Option(help: "trace, debug, info, notice, warning, error or critical.", transform: Self.level)
  var logLevel = Logger.Level.info

  func validate() throws {
    guard streams > 0, records > 0 else { throw ValidationError("--streams and --records are numbers from 1") }
  }

  func run() async throws {
    let level = logLevel
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
    let stop = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let simulator = try APNSSimulator(simulatorConfiguration())
    if let path = tls.caOut { try TextFile.write(simulator.certificateAuthority ?? "", to: path) }
    let addresses = try await simulator.start()
    print(addresses.json)
    fflush(nil)
    if let path = readyFile { try TextFile.write(addresses.json + "\n", to: path) }
    for await _ in stop { break }
    await simulator.stop()
  }

  private static func level(named name: String) throws -> Logger.Level {
    guard let level = Logger.Level(rawValue: name) else { throw ValidationError("\(name) is no log level") }
    return level
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
    configuration.streams.streamsMax = streams
    configuration.streams.startsWithOne = !fixedStreams
    configuration.streams.dropsAfterRefusal = !fixedStreams
    configuration.recordsMax = records
    return configuration
  }
}
