package import CoreMetrics
package import Logging
internal import Postgres
package import PushStore
package import Reactors

/// Sends events to the host, and finds the pushes that nobody looked at.
///
/// One in each process; any number share a database, because users are claimed. It looks every second, and whenever an event has
/// ended. When it dies, other processes send its events after their leases.
package final class HostEventSender {
  /// After the database failed.
  private static let retryWait = Duration.seconds(5)
  /// Pushes looked at in one transaction, each in some tenths of a millisecond.
  private static let checksMax = 200
  /// How long a claim holds, beyond what the receiver may take: a process that was killed leaves its events for so long.
  private static let leaseReserve = Duration.seconds(15)

  private let store: PushDatabase
  private let receiver: HostEventReceiver
  private let interval: Duration
  private let metrics: HostEventMetrics
  private let sleep: DatabaseSleep?
  private let logger: Logger
  private let pause: WakefulPause
  private let ended = Signal()
  private var pacing: ReceiverPacing
  private var underWay = 0
  private var isStopped = false
  private var isRunning = false

  /// Makes a sender; ``run(on:)`` makes it work.
  /// - Parameters:
  ///   - interval: between two looks while nothing is due.
  ///   - sleep: between its looks the next event is known, and nothing is asked before.
  package init(
    store: PushDatabase, receiver: HostEventReceiver, interval: Duration = .seconds(1),
    metrics: HostEventMetrics = HostEventMetrics(), sleep: DatabaseSleep? = nil, logger: Logger
  ) {
    self.store = store
    self.receiver = receiver
    self.interval = interval
    self.metrics = metrics
    self.sleep = sleep
    self.logger = logger
    pause = WakefulPause(sleep)
    pacing = ReceiverPacing(places: receiver.configuration.places)
  }

  /// Works until ``stop(on:)``.
  package func run(on reactor: isolated Reactor) async {
    isRunning = true
    while !isStopped {
      let (wait, longest) = await look(on: reactor)
      if !isStopped { _ = await pause.wait(for: wait, longest: longest, on: reactor) }
    }
    while underWay > 0 { _ = await pause.wait(for: interval, on: reactor) }
    isRunning = false
    ended.signal(on: reactor)
  }

  /// Claims nothing more. Events under way are recorded.
  package func stop(on reactor: isolated Reactor) {
    isStopped = true
    pause.signal(on: reactor)
  }

  /// Waits until the events under way are recorded, and gives up those that last longer.
  package func drain(within limit: Duration, on reactor: isolated Reactor) async {
    if isRunning, await !ended.wait(for: limit, on: reactor) {
      receiver.close(on: reactor)
      _ = await ended.wait(for: limit, on: reactor)
    }
    receiver.close(on: reactor)
  }

  /// - Returns: how long to wait while awake, and while the database sleeps; nil for as long as that lasts.
  private func look(on reactor: isolated Reactor) async -> (Duration, longest: Duration?) {
    do throws(PostgresError) {
      while !isStopped, try await store.checkUnread(Self.checksMax, on: reactor) == Self.checksMax {}
      try await claim(on: reactor)
      guard sleep != nil else { return (interval, nil) }
      let next = try await store.timeUntilNextHostEvent(on: reactor)
      return (interval, next.map { max($0, Self.napMin) })
    } catch {
      logger.warning("cannot look for events of the host; trying again", metadata: ["error": "\(error)"])
      return (Self.retryWait, Self.napMin)
    }
  }

  /// The shortest sleep for a next event: a receiver that is down must not keep the database awake.
  private static let napMin = Duration.seconds(60)

  private func claim(on reactor: isolated Reactor) async throws(PostgresError) {
    let free = pacing.free(underWay: underWay, now: Reactor.now)
    guard free > 0, !isStopped else { return }
    let lease = receiver.configuration.limit + Self.leaseReserve
    for event in try await store.claimHostEvents(free, lease: lease, on: reactor) {
      underWay += 1
      reactor.start { await self.deliver(event, on: reactor) }
    }
  }

  private func deliver(_ event: HostEvent, on reactor: isolated Reactor) async {
    let answer = await receiver.send(event, on: reactor)
    note(answer, of: event)
    do throws(PostgresError) {
      let state = try await store.settle(
        event, answer, givesUp: receiver.configuration.givesUp, on: reactor)
      metrics.count(event, state)
    } catch {
      logger.warning(
        "an event's answer is not recorded; it is sent again after its lease", metadata: ["error": "\(error)"])
    }
    underWay -= 1
    pause.signal(on: reactor)
  }

  private func note(_ answer: HostEventAnswer, of event: HostEvent) {
    guard let fault = answer.fault else { return pacing.succeeded() }
    let wasSuspicious = pacing.isSuspicious
    pacing.failed(now: Reactor.now)
    let metadata: Logger.Metadata = ["type": "\(event.type)", "attempt": "\(event.attempt)", "fault": "\(fault)"]
    if pacing.isSuspicious, !wasSuspicious {
      logger.warning("the host takes no events; one at a time is tried", metadata: metadata)
    } else {
      logger.debug("the host has not taken an event", metadata: metadata)
    }
  }
}

/// How many events may be under way, so that a receiver that is down is asked by few.
///
/// After three failures in a row one event at a time is tried, after a pause that doubles from a second to a minute. The first
/// success lifts both. Without this each waiting event would fail and be put off, and the receiver would hear of all at once.
struct ReceiverPacing {
  private static let failuresMax = 3
  private static let pauseMax: UInt64 = 60_000_000_000

  let places: Int
  private(set) var failures = 0
  private var pausedUntil: UInt64 = 0

  init(places: Int) {
    self.places = places
  }

  /// Whether the receiver seems to be down.
  var isSuspicious: Bool { failures >= Self.failuresMax }

  /// Events that may begin now.
  /// - Parameters:
  ///   - underWay: events that have begun. now: monotonic nanoseconds.
  func free(underWay: Int, now: UInt64) -> Int {
    guard isSuspicious else { return max(0, places - underWay) }
    return underWay == 0 && now >= pausedUntil ? 1 : 0
  }

  mutating func succeeded() { (failures, pausedUntil) = (0, 0) }

  mutating func failed(now: UInt64) {
    failures += 1
    guard isSuspicious else { return }
    pausedUntil = now + min(Self.pauseMax, 1_000_000_000 << UInt64(min(failures - Self.failuresMax, 6)))
  }
}

/// Counts attempts at events in `tacet_host_events_total`, by `type` and by `outcome`: `taken`, `waiting` for one that is tried again,
/// `dead`, or `lost` to another process.
package final class HostEventMetrics {
  private let factory: any MetricsFactory

  /// The events that `tacet.announce` knows.
  private static let types = ["push.unread", "push.sent", "push.skipped", "push.failed", "device.dropped"]

  package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
    self.factory = factory
    // A rate needs the zero before the first one.
    for type in Self.types { counter(of: type, HostEventState.taken.rawValue).increment(by: 0) }
  }

  func count(_ event: HostEvent, _ state: HostEventState?) {
    counter(of: event.type, state?.rawValue ?? "lost").increment()
  }

  private func counter(of type: String, _ outcome: String) -> Counter {
    Counter(label: "tacet_host_events_total", dimensions: [("type", type), ("outcome", outcome)], factory: factory)
  }
}
