internal import Reactors

/// When a look must see everything that waits.
///
/// A value: time comes in as monotonic nanoseconds.
struct ThoroughLooks {
  /// How late anything except a new message may be found while messages keep coming.
  static let interval = Duration.milliseconds(20)

  /// The interval while other pipelines look for it.
  static let intervalLeftToOthers = Duration.milliseconds(100)

  /// The interval after wake-ups that brought no message: a webhook often comes after its message was found.
  static let shortestInterval = Duration.milliseconds(2)

  /// A look that is slow without bringing work is followed by a pause of so many times its duration, so it takes at most a
  /// fifth of the time, and one that is very slow at most a twentieth. Slow are looks that read rows which a host's open
  /// transaction keeps from being cleaned up.
  static let pausePerTimeTaken = (slow: 4, verySlow: 19)

  /// From which time on a look is very slow.
  static let verySlow = Duration.milliseconds(10)

  /// The longest pause, which also bounds how late a lost wake-up is found.
  static let pauseMax = Duration.seconds(1)

  /// How long a look may take for each recipient that it brings without counting as slow: ten times the usual.
  static let timePerPlace = Duration.milliseconds(1)

  /// The longest time from a message to its transaction's commit for a look for messages to find it. The next look for
  /// everything finds later ones.
  static let lateCommit = Duration.seconds(1)

  /// For how long answers that nothing else waits stand in for a claim of everything.
  static let claimInterval = Duration.seconds(10)

  private var begunAt: UInt64?
  private var claimedAt: UInt64?
  private var pauseUntil: UInt64 = 0
  /// When the last look began that left nothing: it found everything committed before.
  private var emptiedAt: UInt64?

  /// Whether other work than a new message is known to wait, or other processes may have left some.
  private(set) var isAskedFor = true

  /// Other work than a new message is known to wait: the next look begins with everything.
  mutating func ask() {
    isAskedFor = true
  }

  /// How long until everything is looked for; zero when that is due.
  /// - Parameters:
  ///   - isBroughtByWake: whether the look was woken, and has found no message. isLeftToOthers: whether other pipelines look.
  func wait(isBroughtByWake: Bool, isLeftToOthers: Bool = false, now: UInt64) -> Duration {
    guard let begunAt else { return .zero }
    var interval = isAskedFor ? .zero : isBroughtByWake ? Self.shortestInterval : Self.interval
    if isLeftToOthers { interval = Self.intervalLeftToOthers }
    let dueAt = max(pauseUntil, begunAt &+ interval.clampedNanoseconds)
    return dueAt > now ? .nanoseconds(Int64(dueAt - now)) : .zero
  }

  /// Whether the last look was so slow that the next one has to wait.
  func isPaused(now: UInt64) -> Bool { pauseUntil > now }

  func asksFirst(now: UInt64) -> Bool {
    guard !isAskedFor, let claimedAt else { return false }
    return now &- claimedAt < Self.claimInterval.clampedNanoseconds
  }

  /// The database has said that nothing else waits: as good as a look that left nothing.
  mutating func nothingWaits(askedAt: UInt64, now: UInt64) {
    guard asksFirst(now: now) else { return }
    begunAt = askedAt
    end(places: 0, leftNothing: true, at: now)
  }

  /// How far back a look for messages has to reach: to the last time that everything was found, plus late commits. Nil for as
  /// far as it can.
  func lookBack(now: UInt64) -> Duration? {
    emptiedAt.map { .nanoseconds(Int64(now &- $0)) + Self.lateCommit }
  }

  mutating func begin(at now: UInt64) {
    begunAt = now
    claimedAt = now
    isAskedFor = false
  }

  /// The look was answered.
  /// - Parameters:
  ///   - places: recipients that it has brought. leftNothing: whether there was room for more.
  mutating func end(places: Int, leftNothing: Bool, at now: UInt64) {
    guard let begunAt else { return }
    if leftNothing { emptiedAt = begunAt }
    let idle = Duration.nanoseconds(Int64(now &- begunAt)) - Self.timePerPlace * places
    let pause = idle * (idle < Self.verySlow ? Self.pausePerTimeTaken.slow : Self.pausePerTimeTaken.verySlow)
    pauseUntil = pause > Self.interval ? now &+ min(pause, Self.pauseMax).clampedNanoseconds : 0
  }
}
