internal import CLinux
internal import HeapModule

/// An event loop on a dedicated thread, and the isolation domain of everything on that thread.
/// One tick runs the ready jobs, fires due timers, calls the end-of-tick handlers (which flush what the tick gathered), then
/// waits for descriptors and calls their handlers. Handlers are plain non-Sendable classes. The `isolated Reactor` parameter
/// is the compiler's proof that they stay on the thread.
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

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private var poller: Poller
  private var timers = TimerQueue()
  private var tickEndHandlers: [any TickEndHandler] = []
  package private(set) var ticks = 0

  init(name: String) throws(SystemError) {
    self.name = name
    executor = try ReactorExecutor()
    poller = try Poller()
    _ = try poller.register(executor.wakeDescriptor, for: .read, handler: nil)
  }

  package var pendingTimers: Int { timers.count }

  /// The monotonic clock, in nanoseconds from an arbitrary point. Reading it does not enter the kernel (vDSO).
  package nonisolated static var now: UInt64 { clinux_monotonic_nanoseconds() }

  // The loop, on the thread that `ReactorGroup` made for it.
  func run() {
    while !executor.shouldStop { tick() }
    drainReadyJobs()
  }

  private func tick() {
    ticks += 1
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

extension Reactor {
  /// Watches a descriptor until ``deregister(_:)``. Keeps the handler alive, but not the descriptor.
  /// - Throws: ``SystemError`` when the kernel refuses, e.g. `EEXIST` for a descriptor that is already watched.
  package func register(
    _ descriptor: Int32, for interest: Interest, handler: any ReadinessHandler
  ) throws(SystemError) -> Registration {
    try poller.register(descriptor, for: interest, handler: handler)
  }

  /// Does nothing after the deregistration.
  package func update(_ registration: Registration, to interest: Interest) throws(SystemError) {
    try poller.update(registration, to: interest)
  }

  /// Stops watching a descriptor. Call it before the descriptor is closed. Calling it twice does nothing.
  package func deregister(_ registration: Registration) { poller.deregister(registration) }

  package func deregister(_ registration: inout Registration?) {
    if let registration { poller.deregister(registration) }
    registration = nil
  }

  /// Calls a handler once after `delay`.
  /// An idle reactor is some tens of microseconds late. Kernels before 5.11 round up to whole milliseconds.
  @discardableResult
  package func schedule(after delay: Duration, _ handler: any TimerHandler) -> TimerToken {
    timers.schedule(at: Reactor.now &+ delay.clampedNanoseconds, handler)
  }

  /// Does nothing after the timer has fired.
  package func cancel(_ timer: TimerToken) { timers.cancel(timer) }

  package func cancel(_ timer: inout TimerToken?) {
    if let timer { timers.cancel(timer) }
    timer = nil
  }

  /// Calls a handler once at the end of the current tick, where it can write what the tick has gathered.
  /// Asking twice in a tick means two calls; callers keep track.
  package func callAtTickEnd(_ handler: any TickEndHandler) { tickEndHandlers.append(handler) }
}

/// Handles the end of a tick, before the reactor waits for descriptors.
package protocol TickEndHandler: AnyObject {
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

  /// From now to a time of the monotonic clock, in nanoseconds; zero for a past one.
  package static func until(_ deadline: UInt64, now: UInt64 = Reactor.now) -> Duration {
    .nanoseconds(Int64(clamping: deadline - min(now, deadline)))
  }
}

extension Result {
  /// The end of asynchronous work, for a caller that has something to close before it passes it on.
  package init(awaiting work: () async throws(Failure) -> Success) async {
    do throws(Failure) {
      self = .success(try await work())
    } catch {
      self = .failure(error)
    }
  }
}

/// The only ways to run work on a reactor. A task made in another way lacks the executor preference: it compiles and works,
/// but silently changes threads at every resume.
extension Reactor {
  /// Starts a task on this reactor from code that runs on it. The task begins when the caller suspends or returns.
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

  package func sleep(for delay: Duration) async { _ = await Signal().wait(for: delay, on: self) }
}

/// A remembered wake-up: a signal without a waiter ends the next wait at once.
/// Belongs to one reactor, and to one waiting task at a time. Signals coalesce, so the waiter checks what has happened.
package final class Signal {
  private var isSignalled = false
  private var waiter: UnsafeContinuation<Bool, Never>?
  private var timer: TimerToken?

  package init() {}

  package func signal(on reactor: isolated Reactor) {
    if waiter == nil { isSignalled = true } else { finish(true, on: reactor) }
  }

  /// - Parameter limit: the longest wait; nil for no limit.
  /// - Returns: whether the signal came in time.
  package func wait(for limit: Duration? = nil, on reactor: isolated Reactor) async -> Bool {
    precondition(waiter == nil, "a signal has one waiter")
    if isSignalled {
      isSignalled = false
      return true
    }
    if let limit { timer = reactor.schedule(after: limit, self) }
    return await withUnsafeContinuation { waiter = $0 }
  }

  private func finish(_ result: Bool, on reactor: isolated Reactor) {
    reactor.cancel(&timer)
    waiter.take()?.resume(returning: result)
  }
}

extension Signal: TimerHandler {
  package func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) { finish(false, on: reactor) }
}

/// A value of one reactor, in a wrapper that other threads may hold but not open.
package struct ReactorBound<Value>: @unchecked Sendable {
  // Unchecked: `value` need not be Sendable. Safe, because only its reactor can read it.
  private let value: Value
  package let reactor: Reactor

  package init(_ value: Value, on reactor: isolated Reactor) {
    self.value = value
    self.reactor = reactor
  }

  /// The value. Traps on any other reactor.
  package func value(on reactor: isolated Reactor) -> Value {
    precondition(reactor === self.reactor, "a value of \(self.reactor.name) was asked for on \(reactor.name)")
    return value
  }

  /// Starts work with the value on its reactor, from any thread. Costs one job in the reactor's inbox.
  package func submit(_ work: @escaping @Sendable (Value, isolated Reactor) async -> Void) {
    reactor.submit { await work(self.value(on: $0), $0) }
  }

  package func perform<Result: Sendable>(
    _ work: @escaping @Sendable (Value, isolated Reactor) async -> Result
  ) async -> Result {
    await withUnsafeContinuation { continuation in
      submit { continuation.resume(returning: await work($0, $1)) }
    }
  }
}

package struct PerReactor<Value>: Sendable {
  private let values: [ObjectIdentifier: ReactorBound<Value>]
  /// In the order of the reactors.
  package let all: [ReactorBound<Value>]

  /// Makes a value on each reactor in turn.
  /// - Parameter make: gets the reactor's number and runs on it.
  package init(
    _ reactors: [Reactor], make: @escaping @Sendable (Int, isolated Reactor) async throws -> Value
  ) async throws {
    var all: [ReactorBound<Value>] = []
    for (number, reactor) in reactors.enumerated() {
      all.append(try await reactor.perform { ReactorBound(try await make(number, $0), on: $0) })
    }
    self.all = all
    values = Dictionary(uniqueKeysWithValues: all.map { (ObjectIdentifier($0.reactor), $0) })
  }

  /// This reactor's value. Traps on a reactor without one.
  package func value(on reactor: isolated Reactor) -> Value {
    guard let bound = values[ObjectIdentifier(reactor)] else { preconditionFailure("no value on \(reactor.name)") }
    return bound.value(on: reactor)
  }
}

/// Handles a timer. Called on the reactor's thread, once, never after a cancel.
package protocol TimerHandler: AnyObject {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor)
}

/// Names one scheduled timer; never reused.
package struct TimerToken: Hashable, Sendable {
  let id: UInt64
}

/// Deadlines in order, on the monotonic clock.
/// A heap cannot remove from the middle, so a cancelled timer leaves a dead entry behind. The heap is rebuilt when most
/// entries are dead, so memory stays proportional to the live timers.
struct TimerQueue {
  private struct Entry: Comparable {
    let deadline: UInt64
    let token: TimerToken

    static func < (a: Entry, b: Entry) -> Bool { (a.deadline, a.token.id) < (b.deadline, b.token.id) }
  }

  /// Dead entries tolerated before a rebuild, regardless of their share.
  private static let deadEntriesMin = 1024

  private var heap = Heap<Entry>()
  private var live: [TimerToken: any TimerHandler] = [:]
  private var lastID: UInt64 = 0

  var count: Int { live.count }

  var entriesIncludingDead: Int { heap.count }

  mutating func schedule(at deadline: UInt64, _ handler: any TimerHandler) -> TimerToken {
    lastID += 1
    let token = TimerToken(id: lastID)
    live[token] = handler
    heap.insert(Entry(deadline: deadline, token: token))
    return token
  }

  mutating func cancel(_ token: TimerToken) {
    live[token] = nil
    if heap.count > 2 * live.count + Self.deadEntriesMin { rebuild() }
  }

  /// The earliest deadline of a live timer, in monotonic nanoseconds.
  mutating func nextDeadline() -> UInt64? {
    while let first = heap.min {
      if live[first.token] != nil { return first.deadline }
      heap.removeMin()
    }
    return nil
  }

  /// Removes one timer whose deadline is not after `now`.
  mutating func popDue(now: UInt64) -> (TimerToken, any TimerHandler)? {
    guard let deadline = nextDeadline(), deadline <= now, let entry = heap.popMin() else { return nil }
    return live.removeValue(forKey: entry.token).map { (entry.token, $0) }
  }

  private mutating func rebuild() { heap = Heap(heap.unordered.filter { live[$0.token] != nil }) }
}

/// Limits a repeated log line to one a minute, and counts the events of each line.
package struct MinuteLine: Sendable {
  private static let interval: UInt64 = 60_000_000_000

  private var loggedAt: UInt64?
  private var unlogged = 0

  package init() {}

  /// Counts an event.
  /// - Parameter now: monotonic nanoseconds.
  /// - Returns: the events since the last line, this one included, if a line is due; otherwise nil.
  package mutating func note(now: UInt64) -> Int? {
    unlogged += 1
    if let loggedAt, now - loggedAt < Self.interval { return nil }
    loggedAt = now
    defer { unlogged = 0 }
    return unlogged
  }
}
