internal import HTTPTypes

/// One HTTP/1.1 connection of an origin server, without input and output.
///
/// Each event is a method that returns the next action. Requests are answered in order. The next request is not parsed before
/// the current one is answered, and until then the caller does not read, which slows a fast client down.
///
///     var action = machine.opened()
///     // .read: flush, read into `receive`, then `received` or `peerClosed` or `deadlinePassed`
///     // .route: `routed` or `answered`;  .handle: `answered`;  .close: flush and close
///
/// An event that the last action did not ask for is a programming error and traps. `drainRequested` may come at any time.
package struct ConnectionStateMachine: Sendable {
  enum Phase: Equatable {
    case head
    case routing
    case body
    case handling
    /// The answer is given, and this much of the content is still to come.
    case discarding(Int)
    case closed
  }

  private struct Exchange {
    var isHead = false
    var version = HTTPVersion.http11
    var isPersistent = true
    var framing = MessageFraming.none
    var expectsContinue = false
  }

  /// The Date of the next answers. The caller keeps it current.
  package var date: HTTPDate
  package var output = SendBuffer()

  private let limits: HTTPLimits
  private(set) var phase = Phase.head
  private var exchange = Exchange()
  private var parser: RequestHeadParser
  private var reader: BodyReader?
  var input = ReceiveBuffer()
  private var hasAnswered = false
  private var isDraining = false

  /// Makes the machine of a connection that was just accepted.
  /// - Parameter isSecure: whether the connection uses TLS. Without TLS, the answer to an absolute https target is 421.
  package init(limits: HTTPLimits, date: HTTPDate, isSecure: Bool = false) {
    self.limits = limits
    self.date = date
    parser = RequestHeadParser(limits: limits, isSecure: isSecure)
  }

  package func opened() -> ConnectionAction { .read(.head) }

  /// Lets `fill` write received bytes and return their number. Call `received` afterwards.
  /// - Returns: the number that `fill` returned.
  package mutating func receive(_ fill: (UnsafeMutableRawBufferPointer) -> Int) -> Int { input.receive(fill) }

  package mutating func received() -> ConnectionAction {
    switch phase {
    case .head: readHead()
    case .body: readBody()
    case .discarding(let remaining): discard(remaining)
    case .routing, .handling, .closed: preconditionFailure("bytes received in phase \(phase)")
    }
  }

  /// The peer has ended its stream. It may still be reading.
  package mutating func peerClosed() -> ConnectionAction {
    switch phase {
    case .head where isQuiet, .discarding: close(.peerClosed)
    case .head, .body: refuse(.incomplete)
    case .routing, .handling, .closed: preconditionFailure("peer closed in phase \(phase)")
    }
  }

  package mutating func deadlinePassed() -> ConnectionAction {
    switch phase {
    case .head where isQuiet: close(.idle)
    case .head, .body: refuse(.timedOut)
    case .discarding: close(.answered)
    case .routing, .handling, .closed: preconditionFailure("deadline passed in phase \(phase)")
    }
  }

  /// The server shuts down: the current request is the last, and its answer says so.
  /// - Returns: the close of a connection without a request; nil if the last action remains in force.
  package mutating func drainRequested() -> ConnectionAction? {
    isDraining = true
    guard isQuiet else { return nil }
    return close(.drained)
  }

  package var bytesKept: Int { input.capacity + output.capacity + (reader?.capacity ?? 0) }

  /// There is no memory for the rest of the request: it is refused, and its bytes are freed.
  package mutating func bytesRefused() -> ConnectionAction {
    guard phase == .head || phase == .body else { return close(.answered) }
    reader = nil
    let action = refuse(.outOfMemory)
    input = ReceiveBuffer()
    return action
  }

  /// Whether no request has begun: nothing has arrived, except perhaps the empty line that may precede a request.
  private var isQuiet: Bool { phase == .head && input.count == parser.bytesBeforeRequest }

  private mutating func close(_ reason: CloseReason) -> ConnectionAction {
    phase = .closed
    return .close(reason)
  }

  private mutating func refuse(_ refusal: RequestRefusal) -> ConnectionAction {
    if phase == .head { exchange.isHead = parser.isHead }
    write(refusal.response, closes: true)
    return close(.refused(refusal))
  }

  // Requests.

  /// The request's route is known and accepts content up to this size.
  /// Refuses larger content before reading it, if its length is announced. Tells a waiting client to continue.
  package mutating func routed(bodyBytesMax: Int) -> ConnectionAction {
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

  private mutating func readHead() -> ConnectionAction {
    do throws(RequestRefusal) {
      let head = try input.withUnread { (bytes) throws(RequestRefusal) in try parser.parse(bytes) }
      guard let head else { return .read(hasAnswered && isQuiet ? .idle : .head) }
      input.consume(head.byteCount)
      parser.reset()
      exchange = Exchange(
        isHead: head.method == .head, version: head.version, isPersistent: head.isPersistent, framing: head.framing,
        expectsContinue: head.expectsContinue)
      phase = .routing
      return .route(head)
    } catch {
      return refuse(error)
    }
  }

  private mutating func readBody() -> ConnectionAction {
    do throws(RequestRefusal) {
      guard try reader?.read(from: &input) == true, let body = reader?.takeBody() else { return .read(.body) }
      reader = nil
      phase = .handling
      return .handle(body: body)
    } catch {
      return refuse(error)
    }
  }

  /// Discards the rest of an answered request's content, then looks for the next request.
  private mutating func discard(_ remaining: Int) -> ConnectionAction {
    let taken = min(remaining, input.count)
    input.consume(taken)
    guard taken == remaining else {
      phase = .discarding(remaining - taken)
      return .read(.body)
    }
    phase = .head
    // The answer came before the drain, so it could not announce that it was the last.
    guard !isDraining || !isQuiet else { return close(.drained) }
    return readHead()
  }

  // Answers.

  /// The request was answered with a prepared response.
  /// May come in place of `routed`. Short unread content is then discarded, and longer content closes the connection.
  package mutating func answered(_ response: PreparedResponse) -> ConnectionAction {
    let closes = closesAfterAnswer(response.closesConnection)
    write(response, closes: closes)
    return finishAnswer(closes)
  }

  package mutating func answered(_ head: ResponseHead, body: [UInt8] = []) -> ConnectionAction {
    let closes = closesAfterAnswer(head.closesConnection)
    head.write(contentLength: body.count, to: &output.bytes)
    writeConnectionFields(closes: closes)
    output.bytes.appendLineEnd()
    if head.hasContent, !exchange.isHead { output.bytes.append(contentsOf: body) }
    return finishAnswer(closes)
  }

  private mutating func write(_ response: PreparedResponse, closes: Bool) {
    output.bytes.append(contentsOf: response.head)
    writeConnectionFields(closes: closes)
    if exchange.isHead { output.bytes.appendLineEnd() } else { output.bytes.append(contentsOf: response.ending) }
  }

  private mutating func writeConnectionFields(closes: Bool) {
    output.bytes.append(contentsOf: date.fieldLine)
    if closes {
      output.bytes.append(contentsOf: "Connection: close\r\n".utf8)
    } else if exchange.version == .http10 {
      output.bytes.append(contentsOf: "Connection: keep-alive\r\n".utf8)
    }
  }

  private func closesAfterAnswer(_ isAsked: Bool) -> Bool {
    precondition(phase == .handling || phase == .routing, "answered in phase \(phase)")
    return isAsked || isDraining || !exchange.isPersistent || unreadBytes == nil
  }

  /// How much content of the answered request to discard; nil if the connection should close instead.
  /// A client that was not told to continue may send the content or not (RFC 9110 section 10.1.1), so the next bytes on its
  /// connection are ambiguous.
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

/// What the caller of a state machine does next.
/// Sending is not an action. The machine collects bytes in its send buffer, and the caller empties it before it waits, so the
/// answers to pipelined requests leave in one write.
package enum ConnectionAction: Sendable {
  /// Send the output, then read and call `received`. Call `deadlinePassed` when the deadline of this stretch passes.
  case read(ReadStretch)
  /// Find the request's route. Then call `routed` with its content limit, or `answered` to answer at once.
  case route(RequestHead)
  /// The request is complete: handle it, then call `answered`.
  case handle(body: [UInt8])
  case close(CloseReason)
}

/// What the peer sends next, which decides how long it may take.
package enum ReadStretch: Sendable, Equatable {
  /// Another request on a connection that has been used. It may never come.
  case idle
  /// A request head, from the connection's start or the head's first byte to the head's end.
  case head
  case body
}

package enum CloseReason: Sendable, Equatable {
  /// The last answer announced it, or the client asked for it.
  case answered
  /// A request was refused, and its answer is in the output. Indirect, so that an action takes two words.
  indirect case refused(RequestRefusal)
  /// The peer closed between two requests.
  case peerClosed
  /// No further request came in time.
  case idle
  case drained

  /// Whether the peer may still be sending. Closing at once could then destroy the answer on its way (RFC 9112 section 9.6), so
  /// shut down sending, read on for a bounded time, then close.
  package var lingers: Bool {
    switch self {
    case .answered, .refused: true
    case .peerClosed, .idle, .drained: false
    }
  }
}
