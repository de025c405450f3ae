internal import Reactors
internal import TLSStreams

/// What carries a connection's bytes: the socket itself, or TLS over it.
///
/// An enumeration and no protocol, so that the plain way is a comparison and a call of `recv`.
struct ConnectionTransport {
  enum Carrier {
    case plain(Socket)
    case tls(TLSStream)
  }

  private(set) var carrier: Carrier
  /// What to wait for after a read that would block; TLS may have to write first.
  private(set) var readInterest = Interest.read
  /// The same after a write; TLS may have to read first.
  private(set) var writeInterest = Interest.write
  /// Whether bytes were taken from the socket that have not been read: the kernel tells of them no more.
  private(set) var hasBufferedInput = false

  /// Without TLS, until ``secure(_:with:)``.
  init(_ socket: Socket) { carrier = .plain(socket) }

  /// Puts TLS over the socket; its handshake comes next.
  mutating func secure(_ socket: Socket, with context: TLSContext) throws(TLSError) -> TLSStream {
    let stream = try TLSStream.serve(over: socket, context: context)
    carrier = .tls(stream)
    return stream
  }

  /// Whether the bytes travel encrypted from the client to here.
  var isSecure: Bool {
    if case .tls = carrier { true } else { false }
  }

  var descriptor: Int32 {
    switch carrier {
    case .plain(let socket): socket.descriptor
    case .tls(let stream): stream.descriptor
    }
  }

  mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> TransportRead {
    switch carrier {
    case .plain(let socket):
      switch socket.read(into: buffer) {
      case .bytes(let count): return .bytes(count)
      case .wouldBlock: return .wouldBlock
      case .endOfStream: return .endOfStream
      case .failed: return .failed
      }
    case .tls(let stream):
      return read(stream, into: buffer)
    }
  }

  mutating func write(_ bytes: UnsafeRawBufferPointer) -> TransportWrite {
    switch carrier {
    case .plain(let socket):
      switch socket.write(bytes) {
      case .bytes(let count): return .bytes(count)
      case .wouldBlock: return .wouldBlock
      case .failed: return .failed
      }
    case .tls(let stream):
      return write(stream, bytes)
    }
  }

  /// A request may have come with the last bytes of a handshake.
  mutating func noteBufferedInput() {
    if case .tls(let stream) = carrier { hasBufferedInput = stream.hasBufferedInput }
  }

  /// Tells the peer that nothing more will be written; reading goes on.
  ///
  /// - Returns: what to wait for before it is tried again; nil when it is done.
  func shutDownWriting() -> Interest? {
    switch carrier {
    case .plain(let socket): socket.shutDownWriting()
    case .tls(let stream): return stream.shutDownWriting()
    }
    return nil
  }

  /// A peer that sees the connection end without this cannot tell it from an attack (RFC 9112 section 9.8).
  func prepareToClose() {
    if case .tls(let stream) = carrier { _ = stream.shutDown() }
  }

  private mutating func read(_ stream: TLSStream, into buffer: UnsafeMutableRawBufferPointer) -> TransportRead {
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

  private mutating func write(_ stream: TLSStream, _ bytes: UnsafeRawBufferPointer) -> TransportWrite {
    switch stream.write(bytes) {
    case .bytes(let count): return .bytes(count)
    case .wouldBlock(let interest):
      writeInterest = interest
      return .wouldBlock
    case .failed: return .failed
    }
  }
}

/// How a read from a transport ended. Why it failed makes no difference to a server.
enum TransportRead { case bytes(Int), wouldBlock, endOfStream, failed }

/// How a write to a transport ended.
enum TransportWrite { case bytes(Int), wouldBlock, failed }

/// A connection's transport, and what its reactor watches it for.
///
/// Readiness is level-triggered, so what nobody waits for would be told again in every tick; the interest is dropped at the
/// first such event and taken up again by the next wait. A connection that reads whenever it is ready never pays for that.
struct ConnectionChannel {
  var transport: ConnectionTransport
  private var registration: Registration?
  private var interest: Interest = .read

  init(_ transport: ConnectionTransport) { self.transport = transport }

  /// Begins to watch the socket for what can be read.
  mutating func open(_ handler: any ReadinessHandler, on reactor: isolated Reactor) throws(SystemError) {
    registration = try reactor.register(transport.descriptor, for: .read, handler: handler)
  }

  /// - Returns: false if nothing would tell of the socket any more: it has hung up, or the kernel has no memory.
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

  /// Nobody waits. A hang-up is told whatever the interest is, so only leaving the poller silences it.
  mutating func ignore(_ readiness: Readiness, on reactor: isolated Reactor) {
    guard readiness.isDisjoint(with: [.hungUp, .failed]) else { return close(on: reactor) }
    _ = watch(for: [], on: reactor)
  }

  /// Stops watching the socket, which closes when the channel is released.
  mutating func close(on reactor: isolated Reactor) {
    if let registration { reactor.deregister(registration) }
    registration = nil
  }
}
