internal import Reactors
internal import TLSStreams

extension Link: TickEndHandler {
  func tickEnded(on reactor: isolated Reactor) {
    flushIsDue = false
    flushNow(on: reactor)
  }

  func flushNow(on reactor: isolated Reactor) {
    guard !isEnded else { return }
    var outcome = outputStart < outputEnd ? writeWhatFits() : .bytes(0)
    if case .bytes = outcome {
      // Only now: what is not submitted while the socket is full is provably not sent.
      owner?.linkWillWrite(on: reactor)
      guard !isEnded else { return }
      outcome = writeWhatFits()
    }
    switch outcome {
    case .failed(let error): endAfterFailedWrite(error, on: reactor)
    case .wouldBlock(let interest): watch(interest.union(.read), on: reactor)
    case .bytes: finishFlush(on: reactor)
    }
  }

  private func finishFlush(on reactor: isolated Reactor) {
    if session.isFinished { return end(session.violation.map { .protocolViolation($0) } ?? .drained, on: reactor) }
    watch(readsWhenWritable ? [.read, .write] : .read, on: reactor)
  }

  /// Takes frames out of the session and writes them, record by record, until there are none or the socket is full.
  func writeWhatFits() -> TLSWriteOutcome {
    while let stream {
      if outputStart == outputEnd { gather() }
      if outputStart == outputEnd { return .bytes(0) }
      switch stream.write(UnsafeRawBufferPointer(rebasing: output[outputStart..<outputEnd])) {
      case .bytes(let count): outputStart += count
      case let outcome: return outcome
      }
    }
    return .bytes(0)
  }

  /// Fills the empty output buffer to a whole record, if there is that much.
  private func gather() {
    outputStart = 0
    outputEnd = 0
    while outputEnd < output.count {
      if excess.isEmpty {
        guard let chunk = session.nextChunk() else { return }
        excess = chunk
      }
      let size = min(excess.count, output.count - outputEnd)
      UnsafeMutableRawBufferPointer(rebasing: output[outputEnd...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: excess[..<size]))
      outputEnd += size
      excess = UnsafeRawBufferPointer(rebasing: excess[size...])
    }
  }

  /// The peer may have said why it closes (GOAWAY) before it did: read that first, because it decides which requests
  /// were not processed.
  private func endAfterFailedWrite(_ error: TLSError, on reactor: isolated Reactor) {
    let readError = feedSession(toEnd: true)
    owner?.linkDidRead(on: reactor)
    end(readError ?? .transport(error), on: reactor)
  }
}
