package import Reactors

/// The wait between two looks at the database, which goes on while the database sleeps.
///
/// Used like a `Signal`, and without a ``DatabaseSleep`` it is one. Belongs to one reactor, and to one waiting task at a time.
package final class WakefulPause {
  private let sleep: DatabaseSleep?
  private let signal = Signal()
  private var isGiven = false

  /// Whether the wait has outlasted its time, because the database sleeps.
  package private(set) var isAsleep = false

  /// Whether the last wait was longer than its time.
  package private(set) var hasSlept = false

  /// - Parameter sleep: nil for waits that end when their time is over.
  package init(_ sleep: DatabaseSleep? = nil) {
    self.sleep = sleep
  }

  /// Ends the current or the next wait, also while the database sleeps. Does not wake the rest of the process.
  package func signal(on reactor: isolated Reactor) {
    (isGiven, isAsleep) = (true, false)
    signal.signal(on: reactor)
  }

  /// Waits for the signal. If the database sleeps when the time is over, the wait lasts until the sleep ends.
  /// - Parameters:
  ///   - time: the wait while awake. longest: after how much more the pause itself wakes the process for a few looks; nil
  ///     leaves that to others.
  /// - Returns: whether the signal came.
  package func wait(for time: Duration, longest: Duration? = nil, on reactor: isolated Reactor) async -> Bool {
    hasSlept = false
    defer { isGiven = false }
    if await signal.wait(for: time, on: reactor) { return true }
    guard let sleep, sleep.add(ReactorBound(self, on: reactor), ObjectIdentifier(self)) else { return false }
    (isAsleep, hasSlept) = (true, true)
    let isEnded = await signal.wait(for: longest, on: reactor)
    isAsleep = false
    if !isEnded { sleep.wakeBriefly() }
    return isGiven
  }

  func databaseSleepEnded(on reactor: isolated Reactor) {
    guard isAsleep else { return }
    isAsleep = false
    signal.signal(on: reactor)
  }
}
