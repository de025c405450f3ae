public import Reactors

// The first moment after the database was away.
extension PostgresPool {
  /// A session is open; if it is the first after a loss, those who have something to do first are told.
  func noteReturn(on reactor: isolated Reactor) {
    guard let lostAt else { return }
    self.lostAt = nil
    returnedAt = Reactor.now
    observer?.databaseReturned(lostAt: lostAt, on: reactor)
  }

  /// How long a statement that leaves others the first moment after a return has to wait; nil when it may run.
  func rest(afterReturn time: Duration) -> Duration? {
    guard let returnedAt, time > .zero else { return nil }
    let (elapsed, wait) = (Reactor.now &- returnedAt, time.clampedNanoseconds)
    return elapsed < wait ? .nanoseconds(Int64(wait - elapsed)) : nil
  }
}

/// Who has something to do first when the database is back.
public protocol PostgresPoolObserver: AnyObject {
  /// A session is open again after all had ended.
  /// - Parameter lostAt: when the last of them ended, in monotonic nanoseconds.
  func databaseReturned(lostAt: UInt64, on reactor: isolated Reactor)
}
