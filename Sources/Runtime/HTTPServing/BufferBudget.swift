internal import HTTP1
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

extension HTTPConnection {
  /// Counts what the connection keeps while it waits or its request is handled.
  ///
  /// - Parameter isAnswering: whether an answer is being sent, which may be as large as it is while the others are within
  ///   their bound.
  /// - Returns: whether it may keep that; it is counted in any case, until the connection keeps less.
  @discardableResult
  func countBytes(isAnswering: Bool = false) -> Bool {
    let kept = machine.bytesKept + handledBytes
    let budget = isSettled ? service.callersBytes : service.strangersBytes
    guard budget !== countedBudget || kept != countedBytes else { return true }
    if budget !== countedBudget {
      if countedBytes > 0 { _ = countedBudget?.note(change: -countedBytes) }
      countedBytes = 0
      countedBudget = budget
    }
    let change = kept - countedBytes
    countedBytes = kept
    return change == 0 || budget.note(change: change, free: isAnswering ? kept : 0)
  }

  /// The connection is gone, and what it kept with it.
  func uncountBytes() {
    if countedBytes > 0 { _ = countedBudget?.note(change: -countedBytes) }
    countedBytes = 0
  }
}
