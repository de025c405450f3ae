public import Reactors

/// How a non-blocking write ended.
public enum TLSWriteOutcome: Equatable, Sendable {
  /// This many bytes were taken: a record's 16 KiB at most, and one more record if the first had to wait for room.
  case bytes(Int)
  /// Nothing was taken before the socket is ready for this. Offer the same bytes again, and at least as many.
  case wouldBlock(Interest)
  /// The connection is broken.
  case failed(TLSError)
}
