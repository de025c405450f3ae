import FoundationEssentials

/// A message that the load has inserted. Moments are monotonic nanoseconds.
struct SentMessage: Sendable, Equatable {
  let id: UUID
  /// Its conversation's place in the scene.
  let conversation: Int
  /// When it was to be inserted.
  let intended: UInt64
  /// When the insert went out.
  var sent: UInt64 = 0
  /// When the answer to the commit was read; 0 when there was none.
  var committed: UInt64 = 0
}
