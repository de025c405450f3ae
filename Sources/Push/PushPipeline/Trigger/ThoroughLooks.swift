internal import Reactors

/// When a look must see everything that waits, and when new messages, which are nearly all there ever is and cost a third of
/// it, are enough.
///
/// A value: time comes in as monotonic nanoseconds.
struct ThoroughLooks {
  /// How late anything but a new message may be found while messages keep coming.
  static let interval = Duration.milliseconds(20)

  /// Between two of them that are asked for by wake-ups which brought no message: webhooks come once more for what has
  /// been found already.
  static let shortestInterval = Duration.milliseconds(2)

  /// A look that is slow for nothing is followed by a pause of so many times what it took: it takes a fifth of the time at
  /// the most. Slow are those that read what a host's open transaction keeps from being cleaned up.
  static let pausePerTimeTaken = 4

  /// The longest pause: how late a lost wake-up may be found as well.
  static let pauseMax = Duration.seconds(1)

  /// What a look may take for each recipient that it brings, without being slow: ten times what one takes.
  static let timePerPlace = Duration.milliseconds(1)

  /// How long a host's transaction may take from its message to its commit for the message to be found by a look for
  /// messages alone. Later ones are found by the next look for everything.
  static let lateCommit = Duration.seconds(1)

  private var begunAt: UInt64?
  private var pauseUntil: UInt64 = 0
  /// When the last look began that left nothing: whatever was committed before has been found.
  private var emptiedAt: UInt64?

  /// Whether something else than a new message is known to wait, or may have been left by others.
  private(set) var isAskedFor = true

  /// Something else than a new message is known to wait: the next look begins with everything.
  mutating func ask() {
    isAskedFor = true
  }

  /// How long until everything is looked at; zero when that is due.
  /// - Parameter isBroughtByWake: whether the look was woken, and has found no message.
  func wait(isBroughtByWake: Bool, now: UInt64) -> Duration {
    guard let begunAt else { return .zero }
    let interval = isAskedFor ? .zero : isBroughtByWake ? Self.shortestInterval : Self.interval
    let dueAt = max(pauseUntil, begunAt &+ interval.clampedNanoseconds)
    return dueAt > now ? .nanoseconds(Int64(dueAt - now)) : .zero
  }

  /// How far back a look for messages has to reach: to what was committed since everything was found, and late commits.
  /// Nil for as far as it can.
  func lookBack(now: UInt64) -> Duration? {
    emptiedAt.map { .nanoseconds(Int64(now &- $0)) + Self.lateCommit }
  }

  /// Notes that everything is looked at now.
  mutating func begin(at now: UInt64) {
    begunAt = now
    isAskedFor = false
  }

  /// Notes the answer.
  /// - Parameters:
  ///   - places: recipients that it has brought. leftNothing: whether there was room for more.
  mutating func end(places: Int, leftNothing: Bool, at now: UInt64) {
    guard let begunAt else { return }
    if leftNothing { emptiedAt = begunAt }
    let idle = Duration.nanoseconds(Int64(now &- begunAt)) - Self.timePerPlace * places
    let pause = idle * Self.pausePerTimeTaken
    pauseUntil = pause > Self.interval ? now &+ min(pause, Self.pauseMax).clampedNanoseconds : 0
  }
}
