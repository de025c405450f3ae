import Simulators

/// Something bad that happens at a planned moment.
struct Disruption: Equatable {
  enum PostgresEnd: String {
    case fast, immediate, kill
  }

  enum Kind: Equatable {
    /// SIGKILL; another process takes its place after a while.
    case killReplica(Int, awayMilliseconds: Int)
    /// SIGSTOP, and SIGCONT after a while.
    case pauseReplica(Int, milliseconds: Int)
    case restartPostgres(PostgresEnd, awayMilliseconds: Int)
    /// A fault on every open connection to the simulator at once.
    case strike(ServerFault)
    /// A fault for the next requests, of those that come within a while.
    case script(ServerFault, times: Int, milliseconds: Int)
    /// 503 in place of the next acceptances, for the devices whose token begins with these digits.
    case unavailable(tokensFrom: String, times: Int)
    /// Connecting to the simulator is refused for a while.
    case refuseConnections(milliseconds: Int)
  }

  /// Since the beginning.
  let atMilliseconds: Int
  let kind: Kind

  /// Whether the database may forget commits that did not wait for the disk.
  var isCrash: Bool {
    if case .restartPostgres(let end, _) = kind { end != .fast } else { false }
  }

  /// For tallies.
  var name: String {
    switch kind {
    case .killReplica: "SIGKILL"
    case .pauseReplica: "SIGSTOP"
    case .restartPostgres(let end, _): "postgres \(end.rawValue)"
    case .strike(let fault): "all connections: \(fault.label)"
    case .script(let fault, _, _): fault.label
    case .unavailable: "503"
    case .refuseConnections: "connections refused"
    }
  }
}

extension ServerFault {
  /// Without its parameters, but for what makes a GOAWAY another kind.
  fileprivate var label: String {
    switch self {
    case .goAway(let lastStream, _, _): "goaway \(lastStream)"
    case .dropBeforeProcessing: "drop before"
    case .dropAfterProcessing: "drop after"
    case .blackHole: "black hole"
    case .refuseStream: "refused stream"
    case .resetStream: "reset"
    case .announceStreams: "streams"
    case .silence: "silence"
    case .ignorePings: "PINGs ignored"
    case .answer: "answer"
    case .delay: "delay"
    }
  }
}
