internal import Synchronization

/// A bound on the bytes that all connections of a service keep, over all its reactors.
final class BufferBudget: Sendable {
  private let bytesMax: Int
  private let bytes = Atomic<Int>(0)

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// Counts a change of a connection's bytes, even one above the bound.
  /// - Parameter free: bytes that do not count for the bound.
  /// - Returns: whether the connection may keep its bytes: they are no more than before, or all bytes are within the bound.
  func count(change: Int, free: Int = 0) -> Bool {
    let sum = bytes.wrappingAdd(change, ordering: .relaxed).newValue
    return change <= 0 || sum - free <= bytesMax
  }
}

extension HTTPConnection {
  /// Counts the connection's bytes while it waits or its request is handled.
  /// - Parameter isAnswering: whether it sends an answer, which may have any size while the others are within the bound.
  /// - Returns: whether it may keep them. They are counted in either case.
  @discardableResult
  func countBytes(isAnswering: Bool = false) -> Bool {
    let kept = machine.bytesKept + handledBytes
    let budget = isSettled ? service.callersBytes : service.strangersBytes
    guard budget !== countedBudget || kept != countedBytes else { return true }
    if budget !== countedBudget {
      uncountBytes()
      countedBudget = budget
    }
    let change = kept - countedBytes
    countedBytes = kept
    return change == 0 || budget.count(change: change, free: isAnswering ? kept : 0)
  }

  func uncountBytes() {
    if countedBytes > 0 { _ = countedBudget?.count(change: -countedBytes) }
    countedBytes = 0
  }
}
