/// A misbehaviour of the server as a whole, as opposed to an answer about one push.
public enum ServerFault: Equatable, Sendable {
  /// Which stream a GOAWAY names as the last one processed.
  public enum LastStream: Equatable, Sendable {
    /// The request that met the fault: it is processed and answered, later ones were never looked at.
    case current
    /// The one before it: the request that met the fault is one that provably nobody processed.
    case previous
    /// 0: nothing on this connection was processed.
    case none
    /// 2^31−1: a graceful shutdown is announced; what is open is still answered.
    case all
    /// This one.
    case stream(Int32)
  }

  /// GOAWAY, then close when what it promises is answered.
  case goAway(lastStream: LastStream, code: UInt32, debug: String)
  /// The connection is cut before the request is looked at.
  case dropBeforeProcessing
  /// The request is judged and recorded, and the connection cut instead of the answer.
  case dropAfterProcessing
  /// The request is read and never heard of again.
  case blackHole
  /// The connection falls silent with the request: nothing is read, answered or acknowledged any more, and nothing is
  /// closed.
  case silence
  /// PINGs are not acknowledged from now on; requests are still answered.
  case ignorePings
  /// RST_STREAM with REFUSED_STREAM: provably not processed.
  case refuseStream
  /// The request is judged and recorded, then RST_STREAM with this code comes instead of the answer.
  case resetStream(code: UInt32)
  /// SETTINGS_MAX_CONCURRENT_STREAMS has this value from now on, on the connection of the request.
  case announceStreams(Int)
  /// A good push is answered this; one that is refused anyway keeps its own answer.
  case answer(ScriptedAnswer)
  /// The answer comes so many milliseconds later.
  case delay(milliseconds: Int)

  /// Whether the request on this stream is judged and recorded before the fault strikes: yes, if the client can be told
  /// or can find out that it may have been.
  func isAfterProcessing(ofStream stream: Int32) -> Bool {
    switch self {
    case .dropAfterProcessing, .resetStream, .announceStreams, .ignorePings, .answer, .delay: true
    case .dropBeforeProcessing, .blackHole, .silence, .refuseStream: false
    case .goAway(let lastStream, _, _): lastStream.number(atStream: stream) >= stream
    }
  }

  /// Whether it can happen to a connection as a whole, without a request.
  var concernsConnection: Bool {
    switch self {
    case .refuseStream, .resetStream, .answer, .delay: false
    default: true
    }
  }
}

extension ServerFault.LastStream {
  /// What the GOAWAY says when the request on this stream meets it. Streams of clients have odd numbers.
  func number(atStream stream: Int32) -> Int32 {
    switch self {
    case .current: stream
    case .previous: max(0, stream - 2)
    case .none: 0
    case .all: Int32.max
    case .stream(let number): number
    }
  }
}

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
