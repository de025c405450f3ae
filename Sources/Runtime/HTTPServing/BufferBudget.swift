internal import Synchronization

/// Bytes that all connections of a service may keep together, over all its reactors.
final class BufferBudget: Sendable {
  let bytesMax: Int
  private let bytes = Atomic<Int>(0)

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// What is kept now.
  var bytesKept: Int { bytes.load(ordering: .relaxed) }

  /// Counts a change of what a connection keeps; it is counted in any case.
  ///
  /// - Parameter free: how much of it does not count for the bound.
  /// - Returns: whether it may stay: it is no more than before, or everything together is within the bound.
  func note(change: Int, free: Int = 0) -> Bool {
    let sum = bytes.wrappingAdd(change, ordering: .relaxed).newValue
    return change <= 0 || sum - free <= bytesMax
  }
}
