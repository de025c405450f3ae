internal import Reactors

/// How long the pipeline may sleep, and whether it polls so fast that the host need not notify.
///
/// After work was found it looks again after `shortest`, then twice as late each time until `longest`. So short steps find work
/// that follows closely, and a lost wake-up costs at most `longest`. A pipeline that the database wakes begins with
/// `wokenShortest` instead. When events come so fast that a notify for each would hold up the host's commits, or that polls cost
/// the database less, it polls as often as brings an event a look, and wants the awake lock, so that the host's inserts stop notifying.
///
/// A value: time comes in as monotonic nanoseconds.
package struct PollSchedule: Sendable {
  package struct Configuration: Sendable {
    /// The first look after work, and the step that doubles.
    package var shortest = Duration.milliseconds(1)
    /// The same for a pipeline that is woken: its looks only find work whose wake-up was lost.
    package var wokenShortest = Duration.milliseconds(32)
    /// The last step: the longest delay of an event whose wake-up is lost.
    package var longest = Duration.seconds(1)
    /// The same while another process is busy, so that the host notifies nobody.
    package var longestQuiet = Duration.milliseconds(20)
    /// The last step while looks fail: the longest delay after the database's return.
    package var longestFailing = Duration.milliseconds(250)
    /// The steps while busy. Half of one is added to the latency of an event, on average. A look for one event costs the database
    /// nearly what one for three does.
    package var busySteps = Duration.microseconds(500)...Duration.microseconds(2500)
    /// The span over which events are counted.
    package var measure = Duration.milliseconds(250)
    /// Events in one span that make the service busy, unless a notify for each is known to be cheap. With NOTIFY, an ordinary
    /// disk commits at most some 250 times a second; half of that is the threshold.
    package var busyEvents = 32
    /// Events in one span below which it is no longer busy. Lower than `busyEvents`, so that it does not flicker.
    package var calmEvents = 8
    /// Notifying is cheap while the host's commits hold PostgreSQL's lock on the queue of notifies, until their flush is done,
    /// for less than this share of the time; half of it ends busy times.
    package var notifyShare = 0.25
    /// Above this many events in one span, polls cost a sixth less than a notify and a look for each, and are nearly as quick.
    package var notifiedEventsMax = 128
    /// How long a measured cost is valid, and how often it is measured while busy.
    package var notifyCostLife = Duration.seconds(1)

    package init() {}
  }

  private let configuration: Configuration
  private var interval: Duration
  private var spanStart: UInt64
  private var spanEvents = 0
  private var lastSpanEvents = 0
  private var notifyCost: (value: Duration, measuredAt: UInt64)?
  private var costAskedAt: UInt64?

  /// Whether the host's inserts need not notify, because the pipeline polls all the time.
  package private(set) var isBusy = false

  /// Whether the database is known to notify the pipeline of new work.
  package var isHearing = false

  /// Whether the host notifies nobody, because a process is busy: another one, unless this one is.
  var isQuiet = false

  /// Starts calm, with a first look at once.
  package init(_ configuration: Configuration = Configuration(), now: UInt64) {
    self.configuration = configuration
    interval = configuration.shortest
    spanStart = now
  }

  package var wait: Duration {
    guard isBusy else { return isQuiet ? min(interval, configuration.longestQuiet) : interval }
    return min(max(timePerEvent, configuration.busySteps.lowerBound), configuration.busySteps.upperBound)
  }

  /// Whether most polls find nothing.
  var isMostlyIdle: Bool { isBusy && timePerEvent > configuration.busySteps.upperBound }

  private var timePerEvent: Duration { configuration.measure / max(lastSpanEvents, spanEvents, 1) }

  /// Whether it is time to measure how long a commit that notifies takes; ``notifyCostMeasured(_:now:)`` takes the answer.
  package mutating func asksForNotifyCost(now: UInt64) -> Bool {
    guard isHearing, isBusy || spanEvents >= configuration.busyEvents / 2 else { return false }
    let pace = isBusy ? configuration.notifyCostLife : configuration.measure
    if let costAskedAt, now &- costAskedAt < pace.clampedNanoseconds { return false }
    costAskedAt = now
    return true
  }

  /// Takes the time of a commit that notifies, the waits for the lock and for the flush included.
  package mutating func notifyCostMeasured(_ cost: Duration, now: UInt64) {
    notifyCost = (cost, now)
  }

  package mutating func looked(found events: Int, now: UInt64) {
    interval = events > 0 ? firstStep : min(interval * 2, configuration.longest)
    spanEvents += events
    if events > 0, spanEvents >= configuration.busyEvents,
      !isNotifyingCheap(within: configuration.notifyShare, now: now)
    {
      isBusy = true
    }
    if now - spanStart >= configuration.measure.clampedNanoseconds { endSpan(at: now) }
  }

  /// Whether the notifies of this span's events take less than a share of the time.
  private func isNotifyingCheap(within share: Double, now: UInt64) -> Bool {
    guard spanEvents <= configuration.notifiedEventsMax, let notifyCost,
      now &- notifyCost.measuredAt < configuration.notifyCostLife.clampedNanoseconds
    else { return false }
    return notifyCost.value * spanEvents < configuration.measure * share
  }

  /// A look failed: the next one waits longer, but not as long as an idle one.
  package mutating func failed() {
    interval = min(max(interval, .milliseconds(50)) * 2, configuration.longestFailing)
    isBusy = false
    (lastSpanEvents, spanEvents) = (0, 0)
  }

  private var firstStep: Duration { isHearing ? configuration.wokenShortest : configuration.shortest }

  private mutating func endSpan(at now: UInt64) {
    if isBusy,
      spanEvents < configuration.calmEvents || isNotifyingCheap(within: configuration.notifyShare / 2, now: now)
    {
      isBusy = false
      interval = firstStep
    }
    spanStart = now
    (lastSpanEvents, spanEvents) = (spanEvents, 0)
  }
}
