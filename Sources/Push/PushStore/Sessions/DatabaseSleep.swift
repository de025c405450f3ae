package import Reactors
internal import Synchronization

/// Whether this process leaves its database alone, so that a host which suspends idle databases can suspend it. One in each
/// process with `IDLE_MODE=webhook`, for all its reactors.
///
/// Awake, the process works as it does without it. After a quiet time its first reactor asks what is due next, and all waits
/// between two looks last until something wakes the process: see ``WakefulPause``. Unused pools close their sessions by
/// themselves.
///
/// A webhook, a caller's statement, a due hold or retry, a campaign's hour, and the longest sleep end it. What was committed
/// meanwhile is found by the first look.
package final class DatabaseSleep: Sendable {
  /// The bounds of the longest sleep. Each look by itself costs a database that suspends itself after five idle minutes as
  /// much running: two hours a day with the longest sleep, and half of the day with the shortest.
  package static let longestMax = Duration.seconds(3600)
  static let longestMin = Duration.seconds(600)

  /// How long a look that was not asked for keeps the process awake: long enough for each duty to look once.
  static let glance = Duration.seconds(10)

  /// How long a suspended database may take to answer: twice what Aurora says it usually takes.
  package static let wakingLimit = Duration.seconds(30)

  private struct State {
    var awakeUntil: UInt64
    var isAsleep = false
    var waiting: [ObjectIdentifier: ReactorBound<WakefulPause>] = [:]
  }

  /// How long without work before the process falls asleep.
  package let quiet: Duration

  package let longest: Duration

  private let state: Mutex<State>

  /// Begins awake.
  package init(after quiet: Duration, longest: Duration = longestMax) {
    self.quiet = quiet
    self.longest = longest
    state = Mutex(State(awakeUntil: Reactor.now &+ quiet.clampedNanoseconds))
  }

  /// The longest sleep for messages that are worth a push so long. A message whose webhook was lost is found before half of
  /// its life is over, within the bounds.
  package static func longest(forLife life: Duration) -> Duration { min(longestMax, max(longestMin, life / 2)) }

  /// Whether the process leaves its database alone now.
  package var isAsleep: Bool { state.withLock { $0.isAsleep } }

  /// Work was found or asked for: the process is awake for at least a quiet time. Any reactor may call it.
  package func stayAwake() { stayAwake(for: quiet) }

  /// The process is awake for a few looks.
  func wakeBriefly() { stayAwake(for: min(Self.glance, quiet)) }

  private func stayAwake(for time: Duration) {
    let woken = state.withLock { state in
      state.awakeUntil = max(state.awakeUntil, Reactor.now &+ time.clampedNanoseconds)
      defer { state.waiting = [:] }
      state.isAsleep = false
      return state.waiting
    }
    for pause in woken.values { pause.submit { $0.databaseSleepEnded(on: $1) } }
  }

  /// Whether the quiet time is over, and the process still awake.
  package func isDue(now: UInt64) -> Bool { state.withLock { !$0.isAsleep && now >= $0.awakeUntil } }

  /// Falls asleep, unless work came meanwhile.
  /// - Returns: whether it did.
  package func begin(now: UInt64) -> Bool {
    state.withLock { state in
      guard !state.isAsleep, now >= state.awakeUntil else { return false }
      state.isAsleep = true
      return true
    }
  }

  /// Notes a pause that lasts as long as the sleep.
  /// - Returns: false when the process is awake.
  func add(_ pause: ReactorBound<WakefulPause>, _ id: ObjectIdentifier) -> Bool {
    state.withLock { state in
      guard state.isAsleep else { return false }
      state.waiting[id] = pause
      return true
    }
  }
}

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

  /// Whether what waits is to end.
  package private(set) var isClosed = false

  /// - Parameter sleep: nil for waits that end when their time is over.
  package init(_ sleep: DatabaseSleep? = nil) {
    self.sleep = sleep
  }

  /// Ends the current or the next wait, also while the database sleeps. Does not wake the rest of the process.
  package func signal(on reactor: isolated Reactor) {
    (isGiven, isAsleep) = (true, false)
    signal.signal(on: reactor)
  }

  /// Ends the current wait, and every later one at once.
  package func close(on reactor: isolated Reactor) {
    isClosed = true
    signal(on: reactor)
  }

  /// Waits for the signal. If the database sleeps when the time is over, the wait lasts until the sleep ends.
  /// - Parameters:
  ///   - time: the wait while awake. longest: after how much more the pause itself wakes the process for a few looks; nil
  ///     leaves that to others.
  /// - Returns: whether the signal came.
  @discardableResult
  package func wait(for time: Duration, longest: Duration? = nil, on reactor: isolated Reactor) async -> Bool {
    hasSlept = false
    defer { isGiven = false }
    if isClosed { return true }
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
