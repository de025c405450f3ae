public import Reactors

/// How a non-blocking read of decrypted bytes ended.
public enum TLSReadOutcome: Equatable, Sendable {
  /// This many bytes were read, at least one, at most one record (16 KiB).
  case bytes(Int)
  /// Nothing to read before the socket is ready for this: usually `.read`, `.write` while TLS has something to say.
  case wouldBlock(Interest)
  /// The peer has said that it will send nothing more.
  case endOfStream
  /// The connection is broken.
  case failed(TLSError)
}
