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
