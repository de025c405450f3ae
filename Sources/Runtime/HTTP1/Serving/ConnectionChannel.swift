internal import Reactors

/// The bytes of a connection, over its socket or over TLS, and the reactor's interest in it.
/// Readiness is level-triggered, so the kernel would report unexpected readiness in every tick. The interest is dropped at the
/// first such event, and set again by the next wait. A connection that reads whenever it is ready never pays for that.
struct ConnectionChannel {
  /// An enumeration rather than a protocol, so that the plain way is a comparison and a call of `recv`.
  enum Carrier {
    case plain(Socket)
    case tls(TLSStream)
  }

  private(set) var carrier: Carrier
  /// What to wait for after a read that would block. TLS may have to write first.
  private(set) var readInterest = Interest.read
  /// What to wait for after a write that would block. TLS may have to read first.
  private(set) var writeInterest = Interest.write
  /// Whether TLS holds unread input, which the kernel will not report again.
  private(set) var hasBufferedInput = false
  private var registration: Registration?
  private var interest: Interest = .read

  /// Without TLS, until ``secure(_:with:)``.
  init(_ socket: Socket) { carrier = .plain(socket) }

  /// Puts TLS over the socket. Its handshake comes next.
  mutating func secure(_ socket: Socket, with context: TLSContext) throws(TLSError) -> TLSStream {
    let stream = try TLSStream.serve(over: socket, context: context)
    carrier = .tls(stream)
    return stream
  }

  var isSecure: Bool {
    if case .tls = carrier { true } else { false }
  }

  private var descriptor: Int32 {
    switch carrier {
    case .plain(let socket): socket.descriptor
    case .tls(let stream): stream.descriptor
    }
  }
}

// The reactor's interest.
extension ConnectionChannel {
  mutating func open(_ handler: any ReadinessHandler, on reactor: isolated Reactor) throws(SystemError) {
    registration = try reactor.register(descriptor, for: .read, handler: handler)
  }

  /// - Returns: false if the reactor can no longer watch the socket: it has hung up, or the kernel has no memory.
  mutating func watch(for interest: Interest, on reactor: isolated Reactor) -> Bool {
    guard let registration else { return false }
    guard interest != self.interest else { return true }
    self.interest = interest
    do {
      try reactor.update(registration, to: interest)
      return true
    } catch {
      return false
    }
  }

  /// Drops an unexpected event. The kernel reports a hang-up for every interest, so then the socket leaves the poller.
  mutating func ignore(_ readiness: Readiness, on reactor: isolated Reactor) {
    guard readiness.isDisjoint(with: [.hungUp, .failed]) else { return close(on: reactor) }
    _ = watch(for: [], on: reactor)
  }

  /// Stops watching the socket. It closes when the channel is released.
  mutating func close(on reactor: isolated Reactor) { reactor.deregister(&registration) }
}

// Input and output.
extension ConnectionChannel {
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> ChannelRead {
    switch carrier {
    case .plain(let socket):
      switch socket.read(into: buffer) {
      case .bytes(let count): return .bytes(count)
      case .wouldBlock: return .wouldBlock
      case .endOfStream: return .endOfStream
      case .failed: return .failed
      }
    case .tls(let stream):
      let outcome = stream.read(into: buffer)
      hasBufferedInput = false
      switch outcome {
      case .bytes(let count):
        hasBufferedInput = stream.hasBufferedInput
        return .bytes(count)
      case .wouldBlock(let interest):
        readInterest = interest
        return .wouldBlock
      case .endOfStream: return .endOfStream
      case .failed: return .failed
      }
    }
  }

  mutating func write(_ bytes: UnsafeRawBufferPointer) -> ChannelWrite {
    switch carrier {
    case .plain(let socket):
      switch socket.write(bytes) {
      case .bytes(let count): return .bytes(count)
      case .wouldBlock: return .wouldBlock
      case .failed: return .failed
      }
    case .tls(let stream):
      switch stream.write(bytes) {
      case .bytes(let count): return .bytes(count)
      case .wouldBlock(let interest):
        writeInterest = interest
        return .wouldBlock
      case .failed: return .failed
      }
    }
  }

  /// The handshake is complete. Its last bytes may have brought a request.
  mutating func handshakeEnded() {
    if case .tls(let stream) = carrier { hasBufferedInput = stream.hasBufferedInput }
  }

  /// Ends the stream for the peer. Reading goes on.
  /// - Returns: what to wait for before the next try; nil when it is done.
  func shutDownWriting() -> Interest? {
    switch carrier {
    case .plain(let socket): socket.shutDownWriting()
    case .tls(let stream): return stream.shutDownWriting()
    }
    return nil
  }

  /// Sends `close_notify`, without which the peer cannot tell the end from an attack (RFC 9112 section 9.8).
  func prepareToClose() {
    if case .tls(let stream) = carrier { _ = stream.shutDown() }
  }
}

/// How a read from a channel ended. A server treats all failures alike.
enum ChannelRead { case bytes(Int), wouldBlock, endOfStream, failed }

enum ChannelWrite { case bytes(Int), wouldBlock, failed }
