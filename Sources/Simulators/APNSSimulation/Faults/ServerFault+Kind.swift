extension ServerFault {
  /// The names under which faults are ordered and shown.
  enum Kind: String, Codable, CaseIterable {
    case goAway = "goaway"
    case dropBefore = "drop_before"
    case dropAfter = "drop_after"
    case blackHole = "black_hole"
    case silence
    case ignorePings = "ignore_pings"
    case refuseStream = "refuse_stream"
    case resetStream = "reset_stream"
    case streams
    case answer
    case delay
    case refuseConnections = "refuse_connections"
  }

  var kind: Kind {
    switch self {
    case .goAway: .goAway
    case .dropBeforeProcessing: .dropBefore
    case .dropAfterProcessing: .dropAfter
    case .blackHole: .blackHole
    case .silence: .silence
    case .ignorePings: .ignorePings
    case .refuseStream: .refuseStream
    case .resetStream: .resetStream
    case .announceStreams: .streams
    case .answer: .answer
    case .delay: .delay
    }
  }
}
