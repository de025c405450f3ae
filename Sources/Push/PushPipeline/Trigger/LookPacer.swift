internal import Reactors
internal import Synchronization

/// When the pipeline looks for work, and whether a look is for new messages, which are nearly all there ever is, or for
/// everything, which costs three times as much.
///
/// The pipeline says what each look brought; this answers when the next one is, and which. A value: time comes in as monotonic
/// nanoseconds.
struct LookPacer {
  var schedule: PollSchedule
  var thorough = ThoroughLooks()
  private var others = OtherKinds()
  /// Also for those on other reactors.
  let flow = MessageFlow()
  private var messages = FailingLooks()
  var everything = FailingLooks()

  init(_ schedule: PollSchedule) {
    self.schedule = schedule
  }

  /// Other work than a new message is known to wait: the next look begins with everything.
  mutating func ask() { thorough.ask() }

  var isFailing: Bool { messages.since != nil || isEverythingFailing }

  var isEverythingFailing: Bool { everything.since != nil }

  /// Whether a look asks what waits before it claims messages: a poll of calm times, which seldom finds one.
  func asksBeforeMessages(isWoken: Bool, now: UInt64) -> Bool {
    !isWoken && !schedule.isBusy && !isFailing && !thorough.isAskedFor && !thorough.isPaused(now: now)
  }

  /// Whether a look asks for messages before it claims them: a poll that probably finds none.
  func asksForMessages(isWoken: Bool) -> Bool { !isWoken && schedule.isMostlyIdle }

  /// Whether a look asks what waits before it claims everything: unless other work is known to wait.
  func asksBeforeEverything(now: UInt64) -> Bool { !isEverythingFailing && thorough.asksFirst(now: now) }

  /// Whether a look begins with new messages: unless everything is asked for, and can be looked for now. Messages do not wait
  /// for many events of other kinds.
  func beginsWithMessages(isWoken: Bool, now: UInt64) -> Bool {
    let isFirst =
      !thorough.isAskedFor || others.abound(now: now) || isEverythingFailing
      || thorough.wait(isBroughtByWake: false, now: now) > .zero
    return isFirst && !messages.isPutOff(isWoken: isWoken, now: now)
  }

  /// How many new events a look for everything takes of those that it may.
  func eventsOfEverything(_ eventsMax: Int, now: UInt64) -> Int {
    others.abound(now: now) && flow.isFlowing(now: now) ? min(eventsMax, OtherKinds.perLook) : eventsMax
  }

  mutating func messagesAnswered(found: Int, now: UInt64) {
    if found > 0 { flow.came(now: now) }
    if messages.since != nil { everything.retryNow() }
    messages.succeeded()
  }

  /// A look for messages failed; the look for everything finds out which of them is at fault.
  mutating func messagesFailed(now: UInt64, draw: Double) {
    messages.failed(now: now, draw: draw)
    thorough.ask()
  }

  /// A look for everything was answered.
  /// - Parameters:
  ///   - places: recipients that it has brought. others: events of other kinds than messages among them. leftNothing:
  ///     whether there was room for more.
  mutating func everythingAnswered(places: Int, others: Int, leftNothing: Bool, now: UInt64) {
    everything.succeeded()
    messages.succeeded()
    thorough.end(places: places, leftNothing: leftNothing, at: now)
    self.others.found(others, now: now)
  }

  /// The database refused a look, or cannot be reached: the next look begins with everything, after a longer wait.
  mutating func slowDown() {
    thorough.ask()
    schedule.failed()
  }
}

/// When a look must see everything that waits.
///
/// A value: time comes in as monotonic nanoseconds.
struct ThoroughLooks {
  /// How late anything except a new message may be found while messages keep coming.
  static let interval = Duration.milliseconds(20)

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
  /// - Parameter isBroughtByWake: whether the look was woken, and has found no message.
  func wait(isBroughtByWake: Bool, now: UInt64) -> Duration {
    guard let begunAt else { return .zero }
    let interval = isAskedFor ? .zero : isBroughtByWake ? Self.shortestInterval : Self.interval
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

/// Whether events of other kinds than messages abound, as those of a campaign do that has its hour. Messages are looked for first
/// meanwhile, and wait for few of the others. Where no message comes, a look takes all that it may: each costs a millisecond of the
/// database, whatever it brings.
///
/// A value: time comes in as monotonic nanoseconds.
struct OtherKinds {
  /// Events that a look may bring meanwhile, while messages come: a message waits for no more than these.
  static let perLook = 16

  /// For how long events abound after a look that has brought ``perLook``, or after looks within as long that have brought as
  /// many together.
  static let interval = Duration.seconds(1)

  private var aboundAt: UInt64?
  private var spanBegunAt: UInt64 = 0
  private var spanCount = 0

  func abound(now: UInt64) -> Bool {
    aboundAt.map { now &- $0 < Self.interval.clampedNanoseconds } ?? false
  }

  /// A look for everything has brought so many events of other kinds.
  mutating func found(_ count: Int, now: UInt64) {
    if now &- spanBegunAt >= Self.interval.clampedNanoseconds { (spanBegunAt, spanCount) = (now, 0) }
    spanCount += count
    if count >= Self.perLook || (abound(now: now) && spanCount >= Self.perLook) { aboundAt = now }
  }
}

/// When new messages were claimed last, for any reactor. Moments are monotonic nanoseconds.
package final class MessageFlow: Sendable {
  /// For how long messages are expected to go on coming.
  private static let interval = Duration.seconds(1)

  private let cameAt = Atomic<UInt64>(0)

  package init() {}

  package func came(now: UInt64) { cameAt.store(now, ordering: .relaxed) }

  package func isFlowing(now: UInt64) -> Bool {
    let cameAt = cameAt.load(ordering: .relaxed)
    return cameAt > 0 && now &- cameAt < Self.interval.clampedNanoseconds
  }
}

/// When a look that the database refuses is tried again: in growing steps with jitter, so that a host's function that fails for
/// every row does not keep the machine and the server's log busy.
///
/// A value: time comes in as monotonic nanoseconds.
struct FailingLooks {
  /// Looks that fail for any reason before each piece of work is looked at alone.
  static let triesTogether = 3

  /// The first wait and the longest one.
  static let shortest = Duration.milliseconds(100)
  static let longest = Duration.seconds(60)

  /// The longest wait when a wake-up comes meanwhile.
  static let longestWoken = Duration.seconds(5)

  private(set) var count = 0

  /// When the first of them failed; nil after a success.
  private(set) var since: UInt64?

  private var lastAt: UInt64 = 0
  private var wait: UInt64 = 0

  /// A look failed.
  /// - Parameter draw: in `0 ..< 1`; a wait is between half of its step and all of it.
  mutating func failed(now: UInt64, draw: Double) {
    let step = min(Self.shortest.clampedNanoseconds << min(count, 10), Self.longest.clampedNanoseconds)
    wait = step / 2 + UInt64(Double(step / 2) * draw)
    lastAt = now
    since = since ?? now
    count += 1
  }

  mutating func succeeded() { self = FailingLooks() }

  /// Another look shows that the cause is gone: the next one need not wait.
  mutating func retryNow() { wait = 0 }

  func isPutOff(isWoken: Bool, now: UInt64) -> Bool {
    guard since != nil else { return false }
    return now &- lastAt < (isWoken ? min(wait, Self.longestWoken.clampedNanoseconds) : wait)
  }
}
