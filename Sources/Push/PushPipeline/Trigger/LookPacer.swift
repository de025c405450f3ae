internal import Reactors

/// When the pipeline looks for work, and whether a look is for new messages, which are nearly all there ever is, or for
/// everything, which costs three times as much.
///
/// The pipeline says what each look brought; this answers when the next one is, and which. A value: time comes in as monotonic
/// nanoseconds.
struct LookPacer {
  var schedule: PollSchedule
  private var thorough = ThoroughLooks()
  private var others: OtherKinds
  private var messages = FailingLooks()
  private(set) var everything = FailingLooks()

  init(_ schedule: PollSchedule) {
    self.schedule = schedule
    others = OtherKinds(schedule.share)
  }

  /// Other work than a new message is known to wait: the next look begins with everything.
  mutating func ask() { thorough.ask() }

  /// Whether other work than a new message is known to wait, or other processes may have left some.
  var isEverythingAskedFor: Bool { thorough.isAskedFor }

  var isFailing: Bool { messages.since != nil || isEverythingFailing }

  var isEverythingFailing: Bool { everything.since != nil }

  /// Whether a look asks what waits before it claims messages: a poll of calm times, which seldom finds one.
  func asksBeforeMessages(isWoken: Bool, now: UInt64) -> Bool {
    !isWoken && !schedule.isBusy && !isFailing && !thorough.isAskedFor && !thorough.isPaused(now: now)
  }

  /// Whether a look asks what waits before it claims everything: unless other work is known to wait.
  func asksBeforeEverything(now: UInt64) -> Bool { !isEverythingFailing && thorough.asksFirst(now: now) }

  mutating func nothingElseWaits(askedAt: UInt64, now: UInt64) { thorough.nothingWaits(askedAt: askedAt, now: now) }

  /// Whether a look begins with new messages: unless everything is asked for, and can be looked for now. Messages do not wait
  /// for many events of other kinds.
  func beginsWithMessages(isWoken: Bool, now: UInt64) -> Bool {
    let isFirst =
      !thorough.isAskedFor || (others.abound(now: now) && !others.leavesMessages(now: now)) || isEverythingFailing
      || waitForEverything(isBroughtByWake: false, now: now) > .zero
    return isFirst && !messages.isPutOff(isWoken: isWoken, now: now)
  }

  /// How long until everything is looked for; zero when that is due.
  /// - Parameter isBroughtByWake: whether the look was woken, and has found no message.
  func waitForEverything(isBroughtByWake: Bool, now: UInt64) -> Duration {
    thorough.wait(isBroughtByWake: isBroughtByWake, isLeftToOthers: others.isLeftToOthers(now: now), now: now)
  }

  func isEverythingPutOff(isWoken: Bool, now: UInt64) -> Bool { everything.isPutOff(isWoken: isWoken, now: now) }

  /// How many new events a look for everything takes of those that it may.
  func eventsOfEverything(_ eventsMax: Int, now: UInt64) -> Int {
    min(eventsMax, others.eventsPerLook(now: now) ?? eventsMax)
  }

  /// How old a new message must be for a look for everything to take it: younger ones are left to another pipeline.
  func messageAge(now: UInt64) -> Duration { others.leavesMessages(now: now) ? ThoroughLooks.interval : .zero }

  /// The pipeline is woken. Events that abound are looked for at once by those that take them.
  /// - Returns: whether to wake the other pipelines of the process, because they take what this wake is for.
  mutating func woken(by cause: WakeCause, now: UInt64) -> Bool {
    if cause == .due || (cause == .neighbour && others.leavesMessages(now: now)) { ask() }
    return (cause == .due && others.isLeftToOthers(now: now))
      || (cause == .webhook && others.leavesMessages(now: now))
  }

  /// How far back a look for messages has to reach; nil for as far as it can.
  func lookBack(now: UInt64) -> Duration? { thorough.lookBack(now: now) }

  mutating func messagesAnswered() {
    if messages.since != nil { everything.retryNow() }
    messages.succeeded()
  }

  /// A look for messages failed; the look for everything finds out which of them is at fault.
  mutating func messagesFailed(now: UInt64, draw: Double) {
    messages.failed(now: now, draw: draw)
    thorough.ask()
  }

  mutating func everythingBegan(now: UInt64) { thorough.begin(at: now) }

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

  mutating func everythingFailed(now: UInt64, draw: Double) { everything.failed(now: now, draw: draw) }

  /// The database refused a look, or cannot be reached: the next look begins with everything, after a longer wait.
  mutating func slowDown() {
    thorough.ask()
    schedule.failed()
  }
}
