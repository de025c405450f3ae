internal import Reactors

/// How long the pipeline may sleep, and whether it should tell the database that it is awake anyway.
///
/// After work was found it looks again after `shortest`, then twice as late each time until `longest`: whoever commits
/// while the steps are still short is found by them, and a wake-up that was lost costs at most `longest`. When events
/// come faster than `busyEvents` a `measure`, it polls at `busyInterval` and wants the awake lock, so that the host's
/// inserts stop notifying; at rest they notify and nobody polls.
///
/// A value: time comes in as monotonic nanoseconds.
public struct PollSchedule: Sendable {
  /// The intervals and thresholds.
  public struct Configuration: Sendable {
    /// The first look after work, and the step that doubles. One millisecond is what the reactor's timers resolve.
    public var shortest = Duration.milliseconds(1)
    /// The last step: how late an event can be when every wake-up is lost.
    public var longest = Duration.seconds(1)
    /// The step while busy. Adds half of itself to the latency of an event, on average.
    public var busyInterval = Duration.milliseconds(1)
    /// The span over which events are counted.
    public var measure = Duration.milliseconds(250)
    /// Events in one span from which on the service is busy. NOTIFY lets an ordinary disk commit some 250 times a second
    /// at the most; half of that must be enough to end it.
    public var busyEvents = 32
    /// Events in one span below which it is no longer busy. Lower than `busyEvents`, so that it does not flicker.
    public var calmEvents = 8

    /// The defaults.
    public init() {}
  }

  private let configuration: Configuration
  private var interval: Duration
  private var spanStart: UInt64
  private var spanEvents = 0

  /// Whether the host's inserts need not notify, because the pipeline polls all the time.
  public private(set) var isBusy = false

  /// Starts calm, with a first look at once.
  public init(_ configuration: Configuration = Configuration(), now: UInt64) {
    self.configuration = configuration
    interval = configuration.shortest
    spanStart = now
  }

  /// How long to sleep until the next look.
  public var wait: Duration { isBusy ? configuration.busyInterval : interval }

  /// Notes a look and what it found.
  public mutating func looked(found events: Int, now: UInt64) {
    interval = events > 0 ? configuration.shortest : min(interval * 2, configuration.longest)
    spanEvents += events
    if events > 0, spanEvents >= configuration.busyEvents { isBusy = true }
    if now - spanStart >= configuration.measure.clampedNanoseconds { endSpan(at: now) }
  }

  /// Notes that a look failed: the database is away, so the next look waits as long as an idle one.
  public mutating func failed() {
    interval = min(max(interval, .milliseconds(50)) * 2, configuration.longest)
    isBusy = false
  }

  private mutating func endSpan(at now: UInt64) {
    if isBusy, spanEvents < configuration.calmEvents {
      isBusy = false
      interval = configuration.shortest
    }
    spanStart = now
    spanEvents = 0
  }
}
