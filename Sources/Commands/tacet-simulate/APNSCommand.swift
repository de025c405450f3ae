import ArgumentParser
import Simulators

struct APNSCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apns",
    abstract: "A local APNs that checks, answers and misbehaves like the real one.",
    discussion: help)

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
  var records = APNSPushLog.capacityDefault

  @OptionGroup
  var options: SimulatorOptions

  func validate() throws {
    guard records > 0 else { throw ValidationError("--records is a number from 1") }
  }

  func run() async throws {
    try await options.run { _ in
      let simulator = try APNSSimulator(simulatorConfiguration())
      if let path = tls.caOut { try TextFile.write(simulator.certificateAuthority ?? "", to: path) }
      return (try await simulator.start().json, simulator.stop)
    }
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

// What `--help` says.
extension APNSCommand {
  private static let help = [start, control, activities, faults, scenario, limits].joined(separator: "\n\n")

  private static let start = """
    It speaks HTTP/2 over TLS and judges each push as Apple's service does:
    provider token or client certificate, headers, topic, size, device token.
    Each refusal has Apple's reason. What it does not know, it refuses: so
    name a key and an app, and register device tokens, or accept any:

      tacet-simulate apns --key ABC123DEFG:DEF123GHIJ:AuthKey.p8 \\
        --bundle com.example.app --accept-any-token --ca-out ca.pem

    The sender then needs the address, https://127.0.0.1:2197, and the
    authority to trust, ca.pem. With port 0 the system chooses one; the actual
    addresses are the first line of the output, in JSON.
    """

  private static let control = """
    Everything else is said to the control endpoint, in plain HTTP and JSON:

      PUT /tokens/TOKEN   {"environment": "production", "bundle_id": "..."}
                          and, if wanted, "unregistered_at_ms",
                          "expired_at_ms", "delay_ms", "answers":
                          [{"status": 503, "reason": "...", "times": 2}]
      GET /tokens         and DELETE /tokens/TOKEN
      POST /keys          {"key_id", "team_id", "pem"} and, if wanted,
                          "environment", "topics", "related_key_id"
      POST /bundles       {"bundle_id"} and, if wanted, "team_id"
      POST /certificates  {"pem", "topics"} and, if wanted, "environment":
                          a client certificate, self-signed ones too
      GET /pushes         ?after=N&limit=&token=&collapse_id=&apns_id=
                          each with connection, stream, arrival, a hash of
                          its provider token, and the answer it got
      GET /pushes/wait    ?count=N&timeout_ms=  until N pushes have come
      DELETE /pushes      forgets pushes, counters and screens
      GET /screen         what devices show, and how often each line came
      GET /lint           what was accepted and should not have been sent
      GET /connections    opened, refused, and those that are open
      GET /healthz
      GET /conduct        and POST /conduct  {"delay_ms", "idle_ms",
                          "token_rate": {"pushes", "seconds"}, "churn":
                          {"connections", "seconds", "refused_ms"}}; 0 in
                          idle_ms, pushes or connections takes a limit away
      POST /clock         {"advance_ms": 3600000}: the time that provider
                          tokens, expirations and rates are measured by
      POST /faults        {"kind": "goaway", "skip": 10, "times": 1}
      GET /faults         those that wait, and those that were met
      DELETE /faults      forgets both
    """

  private static let activities = """
    Live Activities: the token says what it is for. A start makes an activity
    on its device and, if the user allows updates, an update token.

      PUT /tokens/TOKEN   and "kind": "push_to_start", "attributes_type" and,
                          if wanted, "allows_updates": false; or
                          "kind": "update", "activity", "attributes_type":
                          the app has started that activity. "device" is a
                          name for all tokens of one device
      GET /activities     ?device=&activity=&limit=100&history=100
                          what devices show, and why they dropped pushes;
                          the newest activities, each with the newest pushes
      POST /activities/ACTIVITY/token    a new update token, {"token"}; the
                          old one expires. Also the user's late permission
      DELETE /activities/ACTIVITY        the user or the app ends it
      DELETE /activities  forgets all
      POST /conduct       {"allows_updates": false, "activity_budget": 15};
                          0 takes the hourly budget away
    """

  private static let faults = """
    A fault lets "skip" requests pass and hits the next "times", which is 1;
    faults follow one another. With "now": true it happens to every open
    connection at once. With "after_ms" nothing of it happens before that.

      answer              "status", "reason" or "raw_body" for a good push
      delay               the answer comes "delay_ms" later
      reset_stream        judged, then RST_STREAM with "code" (2)
      refuse_stream       not looked at: RST_STREAM with REFUSED_STREAM
      drop_before         the connection is cut, and the push not looked at
      drop_after          the connection is cut instead of the answer
      black_hole          the request is swallowed; the connection lives
      silence             the connection says nothing more, PINGs included
      ignore_pings        PINGs are not acknowledged; requests are answered
      streams             the limit becomes "streams", down or up
      goaway              "last_stream": current, previous, none, all or 7;
                          "code" (0); "debug" ({"reason":"Shutdown"}).
                          all, then a second one, is a shutdown in two steps
      refuse_connections  the next "times", or all for "for_ms"

      curl -X PUT localhost:2199/tokens/00ff -d \\
        '{"environment": "production", "bundle_id": "com.example.app"}'
      curl localhost:2199/faults -d '{"kind": "drop_after", "skip": 3}'
      curl 'localhost:2199/pushes/wait?count=1'
    """

  private static let scenario = """
    A scenario file holds the same orders, one JSON object on each line or
    all in an array, each under the name of what it orders. Without "at_ms"
    they are carried out before the first client can connect, with it so long
    after the start. A file with a mistake stops the start and names it.

      {"bundle": {"bundle_id": "com.example.app", "team_id": "DEF123GHIJ"}}
      {"device": {"token": "00ff", "environment": "production",
                  "bundle_id": "com.example.app"}}      (on one line)
      {"fault": {"kind": "answer", "status": 503, "skip": 100, "times": 3}}
      {"at_ms": 5000, "fault": {"kind": "goaway", "now": true}}
      {"at_ms": 9000, "conduct": {"delay_ms": 250}}

    The others are key, certificate and clock.
    """

  private static let limits = """
    It serves the device endpoint, /3/device/TOKEN. It keeps 10,000 activities;
    then the oldest finished ones are forgotten.

    SIGTERM and SIGINT stop it.
    """
}

/// How many pushes a connection may have under way.
struct StreamOptions: ParsableArguments {
  @Option(help: "Streams that a connection may have open once a push was accepted.")
  var streams = 1000

  @Flag(help: "Allow all streams from the start, and after refusals.")
  var fixedStreams = false

  @Flag(inversion: .prefixedNo, help: "Start a connection with one stream, until its first push was accepted.")
  var startWithOne = true

  @Flag(inversion: .prefixedNo, help: "Go down to one stream with each refusal but 410, until the next acceptance.")
  var dropAfterRefusal = true

  @Flag(inversion: .prefixedNo, help: "Refuse streams over the limit; otherwise it is only announced.")
  var refuseExcess = true

  @Option(help: "BadDeviceToken answers without a success between them that end a connection; 0 for never.")
  var badTokens = 20

  func validate() throws {
    guard streams > 0, badTokens >= 0 else {
      throw ValidationError("--streams is a number from 1, --bad-tokens one from 0")
    }
  }

  var policy: StreamPolicy {
    var policy = StreamPolicy()
    policy.streamsMax = streams
    policy.startsWithOne = startWithOne && !fixedStreams
    policy.dropsAfterRefusal = dropAfterRefusal && !fixedStreams
    policy.refusesExcess = refuseExcess
    policy.badTokensMax = badTokens == 0 ? nil : badTokens
    return policy
  }
}

/// How the server treats its clients as a whole; all of it can be changed later over the control endpoint.
struct ConductOptions: ParsableArguments {
  @Option(help: "Milliseconds that every answer takes longer than usual.")
  var answerDelay = 0

  @Option(help: "Seconds without a request that end a connection with IdleTimeout; never when left out.")
  var idleTimeout: Double?

  @Option(help: "Pushes that one device token takes, as PUSHES/SECONDS; without end when left out.")
  var tokenRate: TokenRateArgument?

  @Option(help: "Connections taken, as COUNT/SECONDS/REFUSED: one more, and all are refused for REFUSED seconds.")
  var churnLimit: ChurnArgument?

  @Option(help: "Pushes of priority 10 that a Live Activity shows in an hour; all of them when left out.")
  var activityBudget: Int?

  @Flag(inversion: .prefixedNo, help: "Users allow updates of Live Activities that a push started.")
  var allowUpdates = true

  func validate() throws {
    guard activityBudget.map({ $0 > 0 }) ?? true else {
      throw ValidationError("--activity-budget is a number from 1")
    }
    guard (0...86_400_000).contains(answerDelay), idleTimeout.map((0.001...86_400).contains) ?? true else {
      throw ValidationError(
        "--answer-delay and --idle-timeout are a day at most, --idle-timeout a millisecond at least")
    }
  }

  var conduct: ServerConduct {
    var conduct = ServerConduct()
    conduct.delayMilliseconds = answerDelay
    conduct.idleMilliseconds = idleTimeout.map { Int($0 * 1000) }
    conduct.churn = churnLimit?.limit
    conduct.activityBudget = activityBudget
    conduct.allowsActivityUpdates = allowUpdates
    return conduct
  }
}

/// `PUSHES/SECONDS`.
struct TokenRateArgument: ExpressibleByArgument {
  let rate: TokenRate

  init?(argument: String) {
    guard let numbers = slashed(argument, count: 2) else { return nil }
    rate = TokenRate(pushes: numbers[0], seconds: numbers[1])
  }
}

/// `COUNT/SECONDS/REFUSED`.
struct ChurnArgument: ExpressibleByArgument {
  let limit: ChurnLimit

  init?(argument: String) {
    guard let numbers = slashed(argument, count: 3) else { return nil }
    limit = ChurnLimit(connections: numbers[0], seconds: numbers[1], refusedMilliseconds: numbers[2] * 1000)
  }
}

/// Numbers from 1 to a million between slashes.
private func slashed(_ text: String, count: Int) -> [Int]? {
  let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
  return numbers.count == count && numbers.allSatisfy((1...1_000_000).contains) ? numbers : nil
}
