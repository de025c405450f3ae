/// One HTTP/1.1 connection of an origin server, without any input or output of its own.
///
/// Each event is a method that returns what to do next. Requests are answered in their order, and the next one is not
/// looked at before the former is answered; until then nothing more should be read, which is how a fast client waits.
///
///     var action = machine.opened()
///     // .read: flush, read into `receive`, then `received` or `peerClosed` or `deadlinePassed`
///     // .route: `routed` or `answered`;  .handle: `answered`;  .close: flush and close
///
/// An event that the last action did not ask for is a mistake of the caller and traps; `drainRequested` may come at any
/// time.
public struct ConnectionStateMachine: Sendable {
  enum Phase: Equatable {
    case head
    case routing
    case body
    case handling
    /// The answer is given; this much of the content is still on its way.
    case discarding(Int)
    case closed
  }

  /// What is remembered of the request being processed.
  struct Exchange {
    var isHead = false
    var version = HTTPVersion.http11
    var isPersistent = true
    var framing = MessageFraming.none
    var expectsContinue = false
  }

  /// The Date of the next answers; the caller keeps it current.
  public var date: HTTPDate
  /// What waits to be sent.
  public var output = SendBuffer()

  let limits: HTTPLimits
  var phase = Phase.head
  var exchange = Exchange()
  var parser: RequestHeadParser
  var reader: BodyReader?
  var input = ReceiveBuffer()
  var hasAnswered = false
  var isDraining = false

  /// Makes the machine of a connection that was just accepted.
  ///
  /// - Parameter isSecure: whether the connection is TLS; without it, an absolute target with the scheme https is
  ///   answered 421.
  public init(limits: HTTPLimits, date: HTTPDate, isSecure: Bool = false) {
    self.limits = limits
    self.date = date
    parser = RequestHeadParser(limits: limits, isSecure: isSecure)
  }

  /// The connection was accepted.
  public func opened() -> ConnectionAction { .read(.head) }

  /// Lets `fill` write bytes that have arrived and say how many, zero if none; call `received` afterwards.
  ///
  /// - Returns: what `fill` returned.
  public mutating func receive(_ fill: (UnsafeMutableRawBufferPointer) -> Int) -> Int { input.receive(fill) }

  /// Bytes were received.
  public mutating func received() -> ConnectionAction {
    switch phase {
    case .head: readHead()
    case .body: readBody()
    case .discarding(let remaining): discard(remaining)
    case .routing, .handling, .closed: preconditionFailure("bytes received in phase \(phase)")
    }
  }

  /// The peer sends no more; it may still be reading.
  public mutating func peerClosed() -> ConnectionAction {
    switch phase {
    case .head where isQuiet, .discarding: close(.peerClosed)
    case .head, .body: refuse(.incomplete)
    case .routing, .handling, .closed: preconditionFailure("peer closed in phase \(phase)")
    }
  }

  /// The time for the stretch being read is over.
  public mutating func deadlinePassed() -> ConnectionAction {
    switch phase {
    case .head where isQuiet: close(.idle)
    case .head, .body: refuse(.timedOut)
    case .discarding: close(.answered)
    case .routing, .handling, .closed: preconditionFailure("deadline passed in phase \(phase)")
    }
  }

  /// The server is going away: the request being received or processed is the last, and its answer says so.
  ///
  /// - Returns: the close of a connection on which nothing was going on; `nil` if the last action stands.
  public mutating func drainRequested() -> ConnectionAction? {
    isDraining = true
    guard isQuiet else { return nil }
    return close(.drained)
  }

  /// Memory that the connection keeps, in bytes.
  public var bytesKept: Int { input.capacity + output.capacity + (reader?.capacity ?? 0) }

  /// There is no memory for more of the request: it is refused, and what has come of it let go.
  public mutating func bytesRefused() -> ConnectionAction {
    guard phase == .head || phase == .body else { return close(.answered) }
    reader = nil
    let action = refuse(.outOfMemory)
    input = ReceiveBuffer()
    return action
  }

  /// Whether no request has begun: nothing has arrived, or the empty line that may precede one.
  var isQuiet: Bool { phase == .head && input.count == parser.bytesBeforeRequest }

  mutating func close(_ reason: CloseReason) -> ConnectionAction {
    phase = .closed
    return .close(reason)
  }

  mutating func refuse(_ refusal: RequestRefusal) -> ConnectionAction {
    if phase == .head { exchange.isHead = parser.isHead }
    write(refusal.response, closes: true)
    return close(.refused(refusal))
  }
}
