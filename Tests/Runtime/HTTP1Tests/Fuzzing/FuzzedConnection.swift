import HTTPTypes

@testable import HTTP1

/// What a connection made of an input, in full.
struct FuzzTrace: Equatable {
  struct Request: Equatable {
    let head: RequestHead
    /// `nil` if the request was answered before its content was read.
    var body: [UInt8]?

    static func == (left: Request, right: Request) -> Bool {
      left.head.bytes == right.head.bytes && left.body == right.body
    }
  }

  var requests: [Request] = []
  var sent: [UInt8] = []
  var close: CloseReason?
  /// The most memory the input took. Depends on the pieces, so it is no part of what is compared.
  var inputBytesMax = 0

  static func == (left: FuzzTrace, right: FuzzTrace) -> Bool {
    left.requests == right.requests && left.sent == right.sent && left.close == right.close
  }
}

/// Runs an input through a connection with limits so small that inputs reach them.
struct FuzzedConnection {
  /// Requests for paths that begin so are answered before their content is read.
  static let missingPrefix: StaticString = "/m"
  static let bodyBytesMax = 64
  static let limits: HTTPLimits = {
    var limits = HTTPLimits()
    limits.requestLineBytesMax = 96
    limits.fieldBytesMax = 384
    limits.fieldCountMax = 12
    limits.discardedBytesMax = 48
    limits.chunkLineBytesMax = 32
    limits.chunkExtensionBytesMax = 48
    return limits
  }()

  private var machine = ConnectionStateMachine(limits: limits, date: HTTPDate(unixSeconds: 784_111_777))
  private var action: ConnectionAction
  private var trace = FuzzTrace()

  private init() { action = machine.opened() }

  /// Feeds the pieces one after another, then closes the client's side.
  static func run(_ pieces: some Sequence<ArraySlice<UInt8>>) -> FuzzTrace {
    var connection = FuzzedConnection()
    for piece in pieces { connection.feed(piece) }
    return connection.finish()
  }

  /// Feeds one piece, has the server go away, and feeds the rest.
  static func run(_ piece: ArraySlice<UInt8>, thenDrainedAnd rest: ArraySlice<UInt8>) -> FuzzTrace {
    var connection = FuzzedConnection()
    connection.feed(piece)
    if case .read = connection.action, let action = connection.machine.drainRequested() {
      connection.action = action
      connection.perform()
    }
    connection.feed(rest)
    return connection.finish()
  }

  private mutating func finish() -> FuzzTrace {
    if case .read = action {
      action = machine.peerClosed()
      perform()
    }
    return trace
  }

  private mutating func feed(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while !rest.isEmpty, case .read = action {
      let taken = machine.receive { space in
        let count = min(space.count, rest.count)
        space.copyBytes(from: rest.prefix(count))
        return count
      }
      rest = rest.dropFirst(taken)
      action = machine.received()
      trace.inputBytesMax = max(trace.inputBytesMax, machine.input.capacity)
      perform()
    }
  }

  /// Performs actions until one waits for input.
  private mutating func perform() {
    while true {
      machine.output.send { bytes in
        trace.sent.append(contentsOf: bytes)
        return bytes.count
      }
      switch action {
      case .read: return
      case .close(let reason):
        trace.close = reason
        return
      case .route(let head):
        trace.requests.append(FuzzTrace.Request(head: head))
        action =
          head.withPathBytes { $0.hasPrefix(Self.missingPrefix) }
          ? machine.answered(ResponseHead(status: .notFound), body: [0x6e, 0x6f])
          : machine.routed(bodyBytesMax: Self.bodyBytesMax)
      case .handle(let body):
        trace.requests[trace.requests.count - 1].body = body
        action = machine.answered(ResponseHead(status: .ok), body: [0x6f, 0x6b])
      }
    }
  }
}
