internal import HTTP1

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
