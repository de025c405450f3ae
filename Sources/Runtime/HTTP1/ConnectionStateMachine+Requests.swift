internal import HTTPTypes

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
