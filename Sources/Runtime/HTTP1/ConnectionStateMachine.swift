internal import HTTPTypes

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

extension ConnectionStateMachine {
  /// Looks for the next request in what has arrived.
  mutating func readHead() -> ConnectionAction {
    do throws(RequestRefusal) {
      let head = try input.withUnread { (bytes) throws(RequestRefusal) in try parser.parse(bytes) }
      guard let head else { return .read(hasAnswered && isQuiet ? .idle : .head) }
      return accept(head)
    } catch {
      return refuse(error)
    }
  }

  private mutating func accept(_ head: RequestHead) -> ConnectionAction {
    input.consume(head.byteCount)
    parser.reset()
    exchange = Exchange(
      isHead: head.method == .head, version: head.version, isPersistent: head.isPersistent, framing: head.framing,
      expectsContinue: head.expectsContinue)
    phase = .routing
    return .route(head)
  }

  /// The request's route is known and takes content up to this size.
  ///
  /// Refuses a content that is announced to be larger before any of it is read; asks a waiting client to go on.
  public mutating func routed(bodyBytesMax: Int) -> ConnectionAction {
    precondition(phase == .routing, "routed in phase \(phase)")
    guard exchange.framing.expectsContent else {
      phase = .handling
      return .handle(body: [])
    }
    if case .length(let length) = exchange.framing, length > bodyBytesMax {
      return answered(RequestRefusal.contentTooLarge.response)
    }
    if exchange.expectsContinue { output.bytes.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8) }
    reader = BodyReader(framing: exchange.framing, limits: limits, bodyBytesMax: bodyBytesMax)
    phase = .body
    return readBody()
  }

  mutating func readBody() -> ConnectionAction {
    do throws(RequestRefusal) {
      guard try reader?.read(from: &input) == true, let body = reader?.takeBody() else { return .read(.body) }
      reader = nil
      phase = .handling
      return .handle(body: body)
    } catch {
      return refuse(error)
    }
  }

  /// Throws the rest of an answered request's content away, then goes on.
  mutating func discard(_ remaining: Int) -> ConnectionAction {
    let taken = min(remaining, input.count)
    input.consume(taken)
    guard taken == remaining else {
      phase = .discarding(remaining - taken)
      return .read(.body)
    }
    phase = .head
    // The answer was given before the drain and could not say that it was the last.
    guard !isDraining || !isQuiet else { return close(.drained) }
    return readHead()
  }
}

extension ConnectionStateMachine {
  /// The request was answered with a prepared response.
  ///
  /// May come in place of `routed`; content that was not read is then discarded if it is short and ends the connection
  /// if it is not.
  public mutating func answered(_ response: PreparedResponse) -> ConnectionAction {
    let closes = closesAfterAnswer(response.closesConnection)
    write(response, closes: closes)
    return finishAnswer(closes)
  }

  /// The request was answered; see the other `answered`.
  public mutating func answered(_ head: ResponseHead, body: [UInt8] = []) -> ConnectionAction {
    let closes = closesAfterAnswer(head.closesConnection)
    head.write(contentLength: body.count, to: &output.bytes)
    writeConnectionFields(closes: closes)
    ResponseHeadWriter.appendLineEnd(to: &output.bytes)
    if head.hasContent, !exchange.isHead { output.bytes.append(contentsOf: body) }
    return finishAnswer(closes)
  }

  mutating func write(_ response: PreparedResponse, closes: Bool) {
    output.bytes.append(contentsOf: response.head)
    writeConnectionFields(closes: closes)
    if exchange.isHead {
      ResponseHeadWriter.appendLineEnd(to: &output.bytes)
    } else {
      output.bytes.append(contentsOf: response.ending)
    }
  }

  /// The fields that belong to the connection.
  private mutating func writeConnectionFields(closes: Bool) {
    output.bytes.append(contentsOf: date.fieldLine)
    if closes {
      ResponseHeadWriter.append(connection: "Connection: close\r\n", to: &output.bytes)
    } else if exchange.version == .http10 {
      ResponseHeadWriter.append(connection: "Connection: keep-alive\r\n", to: &output.bytes)
    }
  }

  private func closesAfterAnswer(_ isAsked: Bool) -> Bool {
    precondition(phase == .handling || phase == .routing, "answered in phase \(phase)")
    return isAsked || isDraining || !exchange.isPersistent || unreadBytes == nil
  }

  /// How much content of the answered request is to be discarded; `nil` if it is better not waited for.
  ///
  /// A client that was not told to continue may send the content or not (RFC 9110 section 10.1.1), so what follows on
  /// its connection cannot be told apart.
  private var unreadBytes: Int? {
    guard phase == .routing, exchange.framing.expectsContent else { return 0 }
    guard case .length(let length) = exchange.framing, !exchange.expectsContinue else { return nil }
    return length <= limits.discardedBytesMax ? length : nil
  }

  private mutating func finishAnswer(_ closes: Bool) -> ConnectionAction {
    let unread = unreadBytes ?? 0
    hasAnswered = true
    guard !closes else { return close(.answered) }
    return discard(unread)
  }
}
