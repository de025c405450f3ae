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
