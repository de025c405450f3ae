internal import CLinux

/// An event loop with a thread of its own, and the isolation domain of everything that lives on that thread.
///
/// One tick: run the jobs that are ready, fire due timers, call the end-of-tick handlers (which flush what the tick
/// gathered), then wait for descriptors and tell their handlers. Handlers are plain non-Sendable classes; the
/// `isolated Reactor` parameter is the compiler's proof that they never leave the thread.
///
/// Nothing on a reactor may block: not name resolution, not a synchronous connect, not a lock held across a call.
public actor Reactor {
  /// Jobs run before descriptors and timers get their turn. A job is some microseconds; 512 of them are a bounded tick.
  private static let jobsPerTickMax = 512

  /// Timers fired in one tick, for the same reason.
  private static let timersPerTickMax = 512

  /// The reactor's name, also its thread's name as seen by `ps -L` (15 bytes at most are shown).
  public nonisolated let name: String

  /// Where this reactor's tasks run. Start work with ``start(_:)`` or ``submit(_:)`` rather than with this.
  public nonisolated let executor: ReactorExecutor

  /// Pins the actor to its thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private var poller: Poller
  private var timers = TimerQueue()
  private var tickEndHandlers: [any TickEndHandler] = []
  private var tickCount = 0

  init(name: String) throws(SystemError) {
    self.name = name
    executor = try ReactorExecutor()
    poller = try Poller()
    _ = try poller.register(executor.wakeDescriptor, for: .read, handler: nil)
  }

  /// Ticks since the start.
  public var ticks: Int { tickCount }

  /// Timers waiting to fire.
  public var pendingTimers: Int { timers.count }

  /// The monotonic clock, in nanoseconds from an arbitrary point. One system call without a kernel entry (vDSO).
  public nonisolated static var now: UInt64 { clinux_monotonic_nanoseconds() }

  // The loop, on the thread that `ReactorGroup` made for it.
  func run() {
    while !executor.shouldStop { tick() }
    drainReadyJobs()
  }

  private func tick() {
    tickCount += 1
    executor.runReadyJobs(limit: Reactor.jobsPerTickMax)
    fireDueTimers()
    callTickEndHandlers()
    poll()
  }

  private func fireDueTimers() {
    guard timers.count > 0 else { return }
    let now = Reactor.now
    var budget = Reactor.timersPerTickMax
    while budget > 0, let (token, handler) = timers.popDue(now: now) {
      budget -= 1
      handler.timerFired(token, on: self)
    }
  }

  /// A handler that asks for the end of the tick while one is running gets it in the same pass.
  private func callTickEndHandlers() {
    var index = 0
    while index < tickEndHandlers.count {
      tickEndHandlers[index].tickEnded(on: self)
      index += 1
    }
    tickEndHandlers.removeAll(keepingCapacity: true)
  }

  private func poll() {
    let timeout = pollTimeout()
    let mayBlock = timeout != 0 && executor.prepareToSleep()
    let ready = poller.wait(timeoutNanoseconds: mayBlock ? timeout : 0)
    executor.wokeUp()
    for index in 0..<ready { dispatch(eventAt: index) }
  }

  private func dispatch(eventAt index: Int) {
    let (registration, readiness) = poller.event(at: index)
    if registration.descriptor == executor.wakeDescriptor { return executor.clearWakeDescriptor() }
    poller.handler(of: registration)?.readinessChanged(readiness, on: self)
  }

  private func pollTimeout() -> Int64 {
    if executor.hasReadyJobs { return 0 }
    guard let deadline = timers.nextDeadline() else { return -1 }
    let now = Reactor.now
    return deadline > now ? Int64(clamping: deadline - now) : 0
  }

  /// What was ready when the stop was asked for still runs, bounded against jobs that breed jobs.
  private func drainReadyJobs() {
    for _ in 0..<64 where executor.hasReadyJobs {
      executor.runReadyJobs(limit: Reactor.jobsPerTickMax)
      callTickEndHandlers()
    }
  }
}

// Descriptors.
extension Reactor {
  /// Watches a descriptor until ``deregister(_:)``. The reactor keeps the handler alive meanwhile, not the descriptor.
  /// - Throws: ``SystemError`` when the kernel refuses, e.g. `EEXIST` for a descriptor already watched.
  public func register(
    _ descriptor: Int32, for interest: Interest, handler: any ReadinessHandler
  ) throws(SystemError) -> Registration {
    try poller.register(descriptor, for: interest, handler: handler)
  }

  /// Changes what a descriptor is watched for; no effect after its deregistration.
  public func update(_ registration: Registration, to interest: Interest) throws(SystemError) {
    try poller.update(registration, to: interest)
  }

  /// Ends the watching. Call it before the descriptor is closed; calling it twice does nothing.
  public func deregister(_ registration: Registration) {
    poller.deregister(registration)
  }
}

// Timers and the end of the tick.
extension Reactor {
  /// Fires a handler once, not before `delay` has passed, and some tens of microseconds after it at rest; on kernels before
  /// 5.11 at the next whole millisecond.
  @discardableResult
  public func schedule(after delay: Duration, _ handler: any TimerHandler) -> TimerToken {
    timers.schedule(at: Reactor.now &+ delay.clampedNanoseconds, handler)
  }

  /// Cancels a timer; harmless when it has fired.
  public func cancel(_ timer: TimerToken) {
    timers.cancel(timer)
  }

  /// Asks for one call at the end of the current tick: the place to write out what the tick has gathered.
  /// The caller keeps track of whether it has already asked; asking twice means two calls.
  public func callAtTickEnd(_ handler: any TickEndHandler) {
    tickEndHandlers.append(handler)
  }
}

/// Called once at the end of the tick it asked for, before the reactor waits for descriptors.
public protocol TickEndHandler: AnyObject {
  /// All jobs and timers of this tick have run.
  func tickEnded(on reactor: isolated Reactor)
}

extension Duration {
  /// Nanoseconds, 0 for negative durations, capped at about 146 years so that deadlines cannot overflow.
  package var clampedNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    if seconds >= 4_611_686_018 { return 4_611_686_018_000_000_000 }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
