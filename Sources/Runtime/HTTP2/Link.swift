internal import Reactors
internal import TLSStreams

/// What a link tells the connection that owns it, on the reactor. It may end the link in any of these.
protocol LinkOwner: AnyObject {
  /// The last moment to submit frames for this tick's writes.
  func linkWillWrite(on reactor: isolated Reactor)
  /// The session has been fed what one readiness brought.
  func linkDidRead(on reactor: isolated Reactor)
  /// The connection is over; the link has let go of the descriptor.
  func linkEnded(_ error: HTTP2Error, on reactor: isolated Reactor)
}

/// Moves bytes between a TLS stream and a session.
///
/// Frames of all requests of a tick are gathered into records of 16 KiB: a record costs a system call and a seal
/// whatever its size. While the socket has no room, nothing is taken out of the session.
final class Link {
  /// A TLS record's payload at most.
  private static let recordBytes = 16 * 1024

  /// Records read per readiness: 1 MiB, then other descriptors get their turn.
  static let recordsPerReadMax = 64

  /// How much of what there is to write is written.
  enum Extent {
    case everything, fullRecords
  }

  let session: Session
  /// Nil when closed: its descriptor closes with it, whoever still holds the link.
  var stream: TLSStream?
  private var registration: Registration?
  private var interest = Interest.read
  var owner: (any LinkOwner)?
  var flushIsDue = false
  var readsWhenWritable = false
  var isEnded = false

  let input = UnsafeMutableRawBufferPointer.allocate(byteCount: recordBytes, alignment: 16)
  let output = UnsafeMutableRawBufferPointer.allocate(byteCount: recordBytes, alignment: 16)
  var outputStart = 0
  var outputEnd = 0
  /// The socket had no room for the whole of `output`; until it has, nothing is added.
  var isBlocked = false
  /// What of the session's last chunk did not fit into `output`.
  var excess = UnsafeRawBufferPointer(start: nil, count: 0)

  init(_ stream: TLSStream, _ session: Session) {
    self.stream = stream
    self.session = session
  }

  deinit {
    input.deallocate()
    output.deallocate()
  }

  /// Registers the descriptor. The reactor, and through it the owner, holds the link until it ends.
  func start(for owner: any LinkOwner, on reactor: isolated Reactor) throws(SystemError) {
    guard let stream else { return }
    // The handshake's last read may have taken the peer's first frames off the socket.
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

  /// Stops reading, writing and answering, without closing: the peer sees a silent connection.
  func freeze(on reactor: isolated Reactor) {
    deregister(on: reactor)
    isEnded = true
  }

  /// Ends everything here; the owner is not told.
  /// - Parameter orderly: whether to send what the session still has, and a `close_notify`, as far as there is room.
  func close(orderly: Bool, on reactor: isolated Reactor) {
    if !isEnded && orderly {
      _ = writeWhatFits()
      stream?.shutDown()
    }
    isEnded = true
    deregister(on: reactor)
    stream = nil
    owner = nil
  }

  private func deregister(on reactor: isolated Reactor) {
    if let registration { reactor.deregister(registration) }
    registration = nil
  }

  func end(_ error: HTTP2Error, on reactor: isolated Reactor) {
    guard let owner else { return }
    close(orderly: error == .closedByPeer, on: reactor)
    owner.linkEnded(error, on: reactor)
  }

  func watch(_ wanted: Interest, on reactor: isolated Reactor) {
    guard wanted != interest, let registration else { return }
    interest = wanted
    do throws(SystemError) {
      try reactor.update(registration, to: wanted)
    } catch {
      end(.system(error), on: reactor)
    }
  }
}

extension Link: ReadinessHandler {
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    // Of a peer that has closed, everything is read now: no more requests are to be handed to a dead connection.
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

  /// Reads until the socket has no more, or the peer's share of this tick is used up.
  /// - Parameter toEnd: asks the socket again when nothing is buffered, to see the end of the stream behind the data.
  func feedSession(toEnd: Bool) -> HTTP2Error? {
    readsWhenWritable = false
    guard let stream else { return nil }
    for _ in 0..<Link.recordsPerReadMax {
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
    // The kernel does not report what TLS has already taken; being writable is reported in the next tick.
    readsWhenWritable = true
    return nil
  }
}

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
