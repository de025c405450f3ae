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
