import APNSSimulation
import ArgumentParser
import SimulatorCommands

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

extension TLSOptions {
  func identity() throws -> APNSSimulatorConfiguration.Identity {
    try files().map { .pem(certificate: $0.certificate, key: $0.key) } ?? .privateAuthority
  }
}
