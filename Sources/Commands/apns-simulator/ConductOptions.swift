import APNSSimulation
import ArgumentParser

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

  func validate() throws {
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
