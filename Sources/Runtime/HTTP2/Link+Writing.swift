internal import Reactors
internal import TLSStreams

extension Link: TickEndHandler {
  func tickEnded(on reactor: isolated Reactor) {
    flushIsDue = false
    flushNow(on: reactor)
  }

  func flushNow(on reactor: isolated Reactor) {
    guard !isEnded else { return }
    switch write(.everything, on: reactor) {
    case .failed(let error): endAfterFailedWrite(error, on: reactor)
    case .wouldBlock(let interest): watch(interest.union(.read), on: reactor)
    case .bytes: if !isEnded { finishFlush(on: reactor) }
    }
  }

  /// Writes the records that are full, so that the peer works on them while the rest of the tick makes more. It costs
  /// nothing: a full record would be written alone at the tick's end as well. The end of the tick must have been asked for.
  func flushFullRecords(on reactor: isolated Reactor) {
    guard !isEnded, !isBlocked else { return }
    switch write(.fullRecords, on: reactor) {
    case .failed(let error): endAfterFailedWrite(error, on: reactor)
    case .wouldBlock(let interest): watch(interest.union(.read), on: reactor)
    case .bytes: break
    }
  }

  private func write(_ extent: Extent, on reactor: isolated Reactor) -> TLSWriteOutcome {
    if isBlocked, case let outcome = writeWhatFits(extent), isBlocked { return outcome }
    // Only now: what is not submitted while the socket is full is provably not sent.
    owner?.linkWillWrite(on: reactor)
    return isEnded ? .bytes(0) : writeWhatFits(extent)
  }

  private func finishFlush(on reactor: isolated Reactor) {
    if session.isFinished { return end(session.violation.map { .protocolViolation($0) } ?? .drained, on: reactor) }
    watch(readsWhenWritable ? [.read, .write] : .read, on: reactor)
  }

  /// Takes frames out of the session and writes them, record by record, until there are none or the socket is full.
  func writeWhatFits(_ extent: Extent = .everything) -> TLSWriteOutcome {
    while let stream {
      if !isBlocked { gather() }
      let isPartial = !isBlocked && outputEnd < output.count
      if outputStart == outputEnd || (isPartial && extent == .fullRecords) { return .bytes(0) }
      switch stream.write(UnsafeRawBufferPointer(rebasing: output[outputStart..<outputEnd])) {
      case .bytes(let count):
        outputStart += count
        isBlocked = false
      case let outcome:
        isBlocked = true
        return outcome
      }
    }
    return .bytes(0)
  }

  /// Fills the output buffer to a whole record, if there is that much.
  private func gather() {
    if outputStart == outputEnd { (outputStart, outputEnd) = (0, 0) }
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
