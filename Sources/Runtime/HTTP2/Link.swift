internal import Reactors

/// The connection of a link, on its reactor. It may end the link in any of these methods.
protocol LinkOwner: AnyObject {
  /// The last chance to submit frames for this tick's writes.
  func linkWillWrite(on reactor: isolated Reactor)
  func linkDidRead(on reactor: isolated Reactor)
  /// The connection has ended, and the link has closed its descriptor.
  func linkEnded(_ error: HTTP2Error, on reactor: isolated Reactor)
}

/// Moves bytes between a TLS stream and a session.
/// Gathers the frames of a tick into records of 16 KiB, because each record costs a system call and an encryption. While the
/// socket has no room, nothing is taken out of the session.
final class Link {
  /// The largest payload of a TLS record.
  private static let recordBytes = 16 * 1024
  /// Records read per readiness. After 1 MiB other descriptors get their turn.
  private static let recordsPerReadMax = 64

  private enum Extent {
    case everything, fullRecords
  }

  private let session: Session
  /// Nil when closed. Its descriptor closes with it, even while the link is still referenced.
  private var stream: TLSStream?
  private var registration: Registration?
  private var interest = Interest.read
  private var owner: (any LinkOwner)?
  private var flushIsDue = false
  private var readsWhenWritable = false
  private var isEnded = false

  private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: recordBytes, alignment: 16)
  private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: recordBytes, alignment: 16)
  private var outputStart = 0
  private var outputEnd = 0
  /// Whether the socket had no room for all of `output`. Nothing is added to it until then.
  private var isBlocked = false
  /// The part of the session's last chunk that did not fit into `output`.
  private var excess = UnsafeRawBufferPointer(start: nil, count: 0)

  init(_ stream: TLSStream, _ session: Session) {
    self.stream = stream
    self.session = session
  }

  deinit {
    input.deallocate()
    output.deallocate()
  }

  /// Registers the descriptor. The reactor keeps the link, and with it the owner, alive until the link ends.
  func start(for owner: any LinkOwner, on reactor: isolated Reactor) throws(SystemError) {
    guard let stream else { return }
    // The handshake's last read may have taken the peer's first frames from the socket.
    readsWhenWritable = stream.hasBufferedInput
    interest = readsWhenWritable ? [.read, .write] : .read
    registration = try reactor.register(stream.descriptor, for: interest, handler: self)
    self.owner = owner
    flushAtTickEnd(on: reactor)
  }

  func flushAtTickEnd(on reactor: isolated Reactor) {
    guard !flushIsDue, !isEnded else { return }
    flushIsDue = true
    reactor.callAtTickEnd(self)
  }

  /// Stops reading, writing and answering without closing. The peer sees a silent connection.
  func freeze(on reactor: isolated Reactor) {
    reactor.deregister(&registration)
    isEnded = true
  }

  /// Closes the connection without telling the owner.
  /// - Parameter orderly: whether to send the session's frames and a `close_notify`, as far as the socket has room.
  func close(orderly: Bool, on reactor: isolated Reactor) {
    if !isEnded && orderly {
      _ = writeWhatFits(.everything)
      stream?.shutDown()
    }
    isEnded = true
    reactor.deregister(&registration)
    stream = nil
    owner = nil
  }

  private func end(_ error: HTTP2Error, on reactor: isolated Reactor) {
    guard let owner else { return }
    close(orderly: error == .closedByPeer, on: reactor)
    owner.linkEnded(error, on: reactor)
  }

  private func watch(_ wanted: Interest, on reactor: isolated Reactor) {
    guard wanted != interest, let registration else { return }
    interest = wanted
    do throws(SystemError) { try reactor.update(registration, to: wanted) } catch { end(.system(error), on: reactor) }
  }
}

extension Link: ReadinessHandler {
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    // Read everything of a peer that has closed, so that a dead connection gets no more requests.
    let isClosing = !readiness.isDisjoint(with: [.peerClosed, .hungUp, .failed])
    if readiness.shouldRead || readsWhenWritable { read(toEnd: isClosing, on: reactor) }
    if readiness.shouldWrite { flushAtTickEnd(on: reactor) }
  }

  private func read(toEnd: Bool, on reactor: isolated Reactor) {
    let error = feedSession(toEnd: toEnd)
    owner?.linkDidRead(on: reactor)
    if let error { return end(error, on: reactor) }
    flushAtTickEnd(on: reactor)
  }

  /// Reads until the socket is empty or the peer's share of this tick is used.
  /// - Parameter toEnd: whether to read the socket again when nothing is buffered, to see the end of the stream.
  private func feedSession(toEnd: Bool) -> HTTP2Error? {
    readsWhenWritable = false
    guard let stream else { return nil }
    for _ in 0..<Self.recordsPerReadMax {
      switch stream.read(into: input) {
      case .bytes(let count):
        do throws(HTTP2Error) {
          try session.receive(UnsafeRawBufferPointer(rebasing: input[..<count]))
        } catch {
          return error
        }
        if !toEnd && !stream.hasBufferedInput { return nil }
      case .wouldBlock(let interest):
        readsWhenWritable = interest == .write
        return nil
      case .endOfStream: return .closedByPeer
      case .failed(let error): return .transport(error)
      }
    }
    // The kernel does not report input that TLS has buffered, but reports a writable socket in the next tick.
    readsWhenWritable = true
    return nil
  }
}

extension Link: TickEndHandler {
  func tickEnded(on reactor: isolated Reactor) {
    flushIsDue = false
    flushNow(on: reactor)
  }

  func flushNow(on reactor: isolated Reactor) { flush(.everything, on: reactor) }

  /// Writes the full records, so that the peer can work on them while the rest of the tick makes more. This is free, because a
  /// full record is a separate write at the tick's end too. Call ``flushAtTickEnd(on:)`` before.
  func flushFullRecords(on reactor: isolated Reactor) {
    if !isBlocked { flush(.fullRecords, on: reactor) }
  }

  private func flush(_ extent: Extent, on reactor: isolated Reactor) {
    guard !isEnded else { return }
    switch write(extent, on: reactor) {
    case .failed(let error): endAfterFailedWrite(error, on: reactor)
    case .wouldBlock(let interest): watch(interest.union(.read), on: reactor)
    case .bytes: if extent == .everything, !isEnded { finishFlush(on: reactor) }
    }
  }

  private func write(_ extent: Extent, on reactor: isolated Reactor) -> TLSWriteOutcome {
    if isBlocked, case let outcome = writeWhatFits(extent), isBlocked { return outcome }
    // Not earlier: requests that are not submitted while the socket is full are provably not sent.
    owner?.linkWillWrite(on: reactor)
    return isEnded ? .bytes(0) : writeWhatFits(extent)
  }

  private func finishFlush(on reactor: isolated Reactor) {
    if session.isFinished { return end(session.violation.map { .protocolViolation($0) } ?? .drained, on: reactor) }
    watch(readsWhenWritable ? [.read, .write] : .read, on: reactor)
  }

  /// Writes the session's frames, record by record, until there are none or the socket is full.
  private func writeWhatFits(_ extent: Extent) -> TLSWriteOutcome {
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

  /// Fills the output buffer up to a whole record.
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

  /// Reads first, because the peer may have sent a GOAWAY before it closed, which decides which requests were not processed.
  private func endAfterFailedWrite(_ error: TLSError, on reactor: isolated Reactor) {
    let readError = feedSession(toEnd: true)
    owner?.linkDidRead(on: reactor)
    end(readError ?? .transport(error), on: reactor)
  }
}
