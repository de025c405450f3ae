/// A misbehaviour of the server, as opposed to a response to one push.
package enum ServerFault: Equatable, Sendable {
  /// The last processed stream in a GOAWAY.
  package enum LastStream: Equatable, Sendable {
    /// The stream of the fault's request: it is processed and answered, and later ones are ignored.
    case current
    /// The stream before it: the fault's request is provably not processed.
    case previous
    /// 0: no request on this connection was processed.
    case none
    /// 2^31−1: announces a graceful shutdown; open requests are still answered.
    case all
    case stream(Int32)
  }

  /// GOAWAY. The connection closes when the promised requests are answered.
  case goAway(lastStream: LastStream, code: UInt32, debug: String)
  /// The connection is cut before the judgement.
  case dropBeforeProcessing
  /// The request is judged and recorded, and the connection is cut before the response.
  case dropAfterProcessing
  /// The request is read and never answered.
  case blackHole
  /// The connection falls silent: nothing is read, answered or acknowledged, and it stays open.
  case silence
  /// PINGs are not acknowledged from now on; requests are still answered.
  case ignorePings
  /// RST_STREAM with REFUSED_STREAM: provably not processed.
  case refuseStream
  /// The request is judged and recorded, and answered by RST_STREAM with this code.
  case resetStream(code: UInt32)
  /// The connection of the request gets this value of SETTINGS_MAX_CONCURRENT_STREAMS.
  case announceStreams(Int)
  /// This is the answer to a good push. A refused one keeps its own.
  case answer(ScriptedAnswer)
  case delay(milliseconds: Int)

  /// Whether the request on this stream is judged and recorded before the fault strikes. It is, unless the fault proves
  /// to the client that it was not, or swallows it.
  func isAfterProcessing(ofStream stream: Int32) -> Bool {
    switch self {
    case .dropAfterProcessing, .resetStream, .announceStreams, .ignorePings, .answer, .delay: true
    case .dropBeforeProcessing, .blackHole, .silence, .refuseStream: false
    case .goAway(let lastStream, _, _): lastStream.number(atStream: stream) >= stream
    }
  }

  /// Whether it can strike a connection without a request.
  var concernsConnection: Bool {
    switch self {
    case .refuseStream, .resetStream, .answer, .delay: false
    default: true
    }
  }
}

extension ServerFault.LastStream {
  /// The stream number in the GOAWAY, for a request on this stream. Streams of clients have odd numbers.
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
  /// The names of faults in orders and records.
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

/// A server fault that waits for requests, in order.
package struct WaitingFault: Equatable, Sendable {
  package var fault: ServerFault
  /// Requests that pass before it.
  package var skip: Int
  /// Requests that it hits then.
  package var times: Int
  /// Before this moment it is inactive, and later ones apply. Monotonic nanoseconds.
  package var notBefore: UInt64

  package init(_ fault: ServerFault, skip: Int = 0, times: Int = 1, notBefore: UInt64 = 0) {
    self.fault = fault
    self.skip = skip
    self.times = times
    self.notBefore = notBefore
  }
}

extension WaitingFault: CountedFault {
  package var skipsLeft: Int {
    get { skip }
    set { skip = newValue }
  }

  package var timesLeft: Int {
    get { times }
    set { times = newValue }
  }
}

/// A fault that happened, in the form of the control endpoint.
package struct FaultRecord: Codable, Equatable, Sendable {
  /// The kind of fault, as in orders.
  package let kind: String
  /// The time, in microseconds since 1970.
  package let atMicroseconds: Int64
  /// The connection's number since the start, from 1.
  package let connection: Int
  /// The stream of its request; nil for a fault of the whole connection.
  package let stream: Int32?
  /// That request's `apns-id` or `apns-request-id`, as sent.
  package let identifier: String?
  /// That request's device token, as sent.
  package let token: String?
  /// That request's number in the push log; nil without a judgement.
  package let push: Int?

  private enum CodingKeys: String, CodingKey {
    case kind, connection, stream, token, push
    case atMicroseconds = "at_us"
    case identifier = "apns_id"
  }
}

extension FaultRecord {
  init(_ fault: ServerFault, _ request: InspectedRequest, from origin: RequestOrigin, push: Int?) {
    self.init(
      kind: fault.kind.rawValue, atMicroseconds: origin.arrival.microseconds, connection: origin.connection,
      stream: origin.stream, identifier: request.value(of: "apns-id"),
      token: request.path.split(separator: "/").last.map(String.init), push: push)
  }

  /// A fault of a connection at this moment.
  init(_ fault: ServerFault, connection: Int) {
    self.init(
      kind: fault.kind.rawValue, atMicroseconds: SimulationClock.wall.microseconds, connection: connection,
      stream: nil, identifier: nil, token: nil, push: nil)
  }
}
