internal import CLinux

/// An event loop on a dedicated thread, and the isolation domain of everything on that thread.
///
/// One tick runs the ready jobs, fires due timers, calls the end-of-tick handlers (which flush what the tick gathered), then
/// waits for descriptors and calls their handlers. Handlers are plain non-Sendable classes. The `isolated Reactor` parameter
/// is the compiler's proof that they stay on the thread.
///
/// Work on a reactor must not block: no name resolution, no synchronous connect, no lock held across a call.
package actor Reactor {
  /// Jobs per tick, so that descriptors and timers get their turn. A job takes a few microseconds.
  private static let jobsPerTickMax = 512

  /// Timers per tick, for the same reason.
  private static let timersPerTickMax = 512

  /// The name of the reactor and of its thread. `ps -L` shows the first 15 bytes.
  package nonisolated let name: String

  /// The executor of this reactor's tasks. Start work with ``start(_:)`` or ``submit(_:)`` instead.
  package nonisolated let executor: ReactorExecutor

  /// Pins the actor to its thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

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

  package var ticks: Int { tickCount }

  package var pendingTimers: Int { timers.count }

  /// The monotonic clock, in nanoseconds from an arbitrary point. Reading it does not enter the kernel (vDSO).
  package nonisolated static var now: UInt64 { clinux_monotonic_nanoseconds() }

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

  /// Runs the jobs that were ready at the stop. The bound is against jobs that start more jobs.
  private func drainReadyJobs() {
    for _ in 0..<64 where executor.hasReadyJobs {
      executor.runReadyJobs(limit: Reactor.jobsPerTickMax)
      callTickEndHandlers()
    }
  }
}

// Descriptors.
extension Reactor {
  /// Watches a descriptor until ``deregister(_:)``. Keeps the handler alive, but not the descriptor.
  /// - Throws: ``SystemError`` when the kernel refuses, e.g. `EEXIST` for a descriptor that is already watched.
  package func register(
    _ descriptor: Int32, for interest: Interest, handler: any ReadinessHandler
  ) throws(SystemError) -> Registration {
    try poller.register(descriptor, for: interest, handler: handler)
  }

  /// Changes the interest in a descriptor. Does nothing after its deregistration.
  package func update(_ registration: Registration, to interest: Interest) throws(SystemError) {
    try poller.update(registration, to: interest)
  }

  /// Stops watching a descriptor. Call it before the descriptor is closed. Calling it twice does nothing.
  package func deregister(_ registration: Registration) {
    poller.deregister(registration)
  }

  package func deregister(_ registration: inout Registration?) {
    if let registration { poller.deregister(registration) }
    registration = nil
  }
}

// Timers and the end of the tick.
extension Reactor {
  /// Calls a handler once after `delay`.
  ///
  /// An idle reactor is some tens of microseconds late. Kernels before 5.11 round up to whole milliseconds.
  @discardableResult
  package func schedule(after delay: Duration, _ handler: any TimerHandler) -> TimerToken {
    timers.schedule(at: Reactor.now &+ delay.clampedNanoseconds, handler)
  }

  /// Cancels a timer. Does nothing after it has fired.
  package func cancel(_ timer: TimerToken) {
    timers.cancel(timer)
  }

  package func cancel(_ timer: inout TimerToken?) {
    if let timer { timers.cancel(timer) }
    timer = nil
  }

  /// Calls a handler once at the end of the current tick, where it can write what the tick has gathered.
  /// Asking twice in a tick means two calls; callers keep track.
  package func callAtTickEnd(_ handler: any TickEndHandler) {
    tickEndHandlers.append(handler)
  }
}

/// Handles the end of a tick, before the reactor waits for descriptors.
package protocol TickEndHandler: AnyObject {
  /// The jobs and timers of this tick have run.
  func tickEnded(on reactor: isolated Reactor)
}

extension Duration {
  /// Nanoseconds: 0 for negative durations, at most about 146 years so that deadlines cannot overflow.
  package var clampedNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return 0 }
    if seconds >= 4_611_686_018 { return 4_611_686_018_000_000_000 }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}

/// The only ways to run work on a reactor. A task made in another way lacks the executor preference: it compiles and works,
/// but silently changes threads at every resume.
extension Reactor {
  /// Starts a task on this reactor from code that runs on it. The task begins when the caller suspends or returns.
  ///
  /// The closure is not `Sendable`, so it has the isolation of its context. Use the reactor's name inside it.
  package func start(_ work: @escaping () async -> Void) {
    // Safe: `work` was made on this reactor and runs on it, so it crosses no isolation boundary.
    nonisolated(unsafe) let work = work
    Task(executorPreference: executor) {
      _ = self  // The capture isolates this closure, and with it `work`, to the reactor.
      await work()
    }
  }

  /// Starts a task on this reactor from any thread. Costs one job in the inbox, and a wake-up if the reactor sleeps.
  package nonisolated func submit(_ work: @escaping @Sendable (isolated Reactor) async -> Void) {
    Task(executorPreference: executor) { await work(self) }
  }

  package nonisolated func perform<Result: Sendable>(
    _ work: @escaping @Sendable (isolated Reactor) async throws -> Result
  ) async throws -> Result {
    try await Task(executorPreference: executor) { try await work(self) }.value
  }

  package func sleep(for delay: Duration) async {
    _ = await Signal().wait(for: delay, on: self)
  }
}
