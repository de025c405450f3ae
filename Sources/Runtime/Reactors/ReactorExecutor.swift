internal import CLinux
internal import DequeModule
internal import Glibc
internal import Synchronization

/// The job queue of one reactor thread: a task's executor preference, and an actor's executor.
/// A job from the reactor's thread goes into a ring buffer without a lock. A job from another thread goes through the
/// *inbox*: it takes a lock, and writes to an event descriptor only when the reactor sleeps and no other thread has already
/// promised to wake it.
package final class ReactorExecutor: TaskExecutor, SerialExecutor, @unchecked Sendable {
  // Unchecked because `local` is unsynchronised. Safe, because only the reactor's thread touches it: `enqueue` compares
  // thread handles, and the other users are called from `Reactor.run`.
  private var local = Deque<UnownedJob>(minimumCapacity: 256)
  private let inbox = Mutex<[UnownedJob]>([])
  private let inboxHasJobs = Atomic<Bool>(false)
  private let isSleeping = Atomic<Bool>(false)
  private let isStopRequested = Atomic<Bool>(false)
  private let thread = Atomic<UInt>(0)
  private let arrivedFromOtherThreads = Atomic<Int>(0)
  private let wakesWritten = Atomic<Int>(0)
  /// The event descriptor the reactor polls so that other threads can end its sleep.
  let wakeDescriptor: Int32

  init() throws(SystemError) {
    wakeDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    guard wakeDescriptor >= 0 else { throw SystemError(operation: "eventfd", code: errno) }
  }

  deinit { close(wakeDescriptor) }

  /// The Swift runtime calls it from any thread.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isOnThread {
      local.append(job)
      return
    }
    inbox.withLock { $0.append(job) }
    arrivedFromOtherThreads.add(1, ordering: .relaxed)
    inboxHasJobs.store(true, ordering: .sequentiallyConsistent)
    wake()
  }

  package func checkIsolated() { precondition(isOnThread, "called off the reactor's thread") }

  package func isIsolatingCurrentContext() -> Bool? { isOnThread }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Jobs that came through the inbox since the start. Steady traffic on one reactor does not change it.
  package var jobsFromOtherThreads: Int { arrivedFromOtherThreads.load(ordering: .relaxed) }

  /// How often another thread had to wake this reactor.
  package var wakeUps: Int { wakesWritten.load(ordering: .relaxed) }

  // `pthread_self` is declared `const`, so the compiler could reuse an inlined result across a suspension.
  @inline(never)
  private var isOnThread: Bool { UInt(pthread_self()) == thread.load(ordering: .relaxed) }
}

// What the reactor's thread does with the queue.
extension ReactorExecutor {
  func adoptCurrentThread() { thread.store(UInt(pthread_self()), ordering: .relaxed) }

  var hasReadyJobs: Bool { !local.isEmpty || inboxHasJobs.load(ordering: .relaxed) }

  var shouldStop: Bool { isStopRequested.load(ordering: .relaxed) }

  func requestStop() {
    isStopRequested.store(true, ordering: .sequentiallyConsistent)
    wake()
  }

  /// Runs at most `limit` ready jobs, so that descriptors and timers get their turn even when jobs start jobs.
  func runReadyJobs(limit: Int) {
    if inboxHasJobs.exchange(false, ordering: .sequentiallyConsistent) { takeInbox() }
    var budget = limit
    while budget > 0, let job = local.popFirst() {
      budget -= 1
      job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
  }

  /// Announces sleep.
  /// - Returns: whether the poll may block; false when a job has arrived meanwhile.
  func prepareToSleep() -> Bool {
    isSleeping.store(true, ordering: .sequentiallyConsistent)
    return !inboxHasJobs.load(ordering: .sequentiallyConsistent) && !shouldStop
  }

  func wokeUp() { isSleeping.store(false, ordering: .relaxed) }

  func clearWakeDescriptor() {
    var count: UInt64 = 0
    _ = read(wakeDescriptor, &count, 8)
  }

  private func takeInbox() {
    var arrived: [UnownedJob] = []
    inbox.withLock { swap(&$0, &arrived) }
    local.append(contentsOf: arrived)
  }

  private func wake() {
    guard isSleeping.exchange(false, ordering: .sequentiallyConsistent) else { return }
    var one: UInt64 = 1
    wakesWritten.add(1, ordering: .relaxed)
    _ = write(wakeDescriptor, &one, 8)
  }
}

package final class ReactorGroup: Sendable {
  /// In the order of their numbers; never empty.
  package let reactors: [Reactor]
  private let threads: [ReactorThread]

  /// Starts `count` reactors named `<name>-0`, `<name>-1`, and so on.
  /// Also ignores SIGPIPE for the process, so that a write to a closed socket returns an error.
  /// - Throws: ``SystemError`` when the system has no descriptors or threads left.
  package init(count: Int, name: String = "reactor") throws(SystemError) {
    precondition(count > 0, "a group needs a reactor")
    clinux_ignore_sigpipe()
    var reactors: [Reactor] = []
    for number in 0..<count { reactors.append(try Reactor(name: "\(name)-\(number)")) }
    var threads: [ReactorThread] = []
    for reactor in reactors { threads.append(try ReactorThread(running: reactor)) }
    self.reactors = reactors
    self.threads = threads
  }

  /// Stops every reactor after its ready jobs, and waits for the threads to end. Call it once.
  /// Abandons tasks that are still suspended on a reactor: close what they wait for first.
  package func stop() async {
    for reactor in reactors { reactor.executor.requestStop() }
    for thread in threads { await thread.ended() }
  }

  /// Runs a body on a reactor that is started for it and stopped behind it.
  package static func perform<Value: Sendable>(
    _ body: @escaping @Sendable (isolated Reactor) async throws -> Value
  ) async throws -> Value {
    let group = try ReactorGroup(count: 1)
    let result = await Result(awaiting: { () async throws -> Value in try await group.reactors[0].perform(body) })
    await group.stop()
    return try result.get()
  }

  /// The processors that this process may use: the default size of a group.
  package static var processorCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
}

private struct ReactorThread: Sendable {
  private let handle: pthread_t

  init(running reactor: Reactor) throws(SystemError) {
    var handle = pthread_t()
    // Retained for the thread, and released at its end.
    let argument = Unmanaged.passRetained(reactor)
    let code = pthread_create(&handle, nil, { runReactor($0) }, argument.toOpaque())
    guard code == 0 else {
      argument.release()
      throw SystemError(operation: "pthread_create", code: code)
    }
    self.handle = handle
  }

  /// Returns when the thread has ended. Waits off the reactors, because the join blocks.
  func ended() async {
    await Task(executorPreference: globalConcurrentExecutor) { [handle] in _ = pthread_join(handle, nil) }.value
  }
}

private func runReactor(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  // `ReactorThread.init` retained it for this thread.
  let reactor = Unmanaged<Reactor>.fromOpaque(argument).takeRetainedValue()
  clinux_name_current_thread(String(reactor.name.prefix(15)))
  reactor.executor.adoptCurrentThread()
  reactor.assumeIsolated { $0.run() }
  return nil
}
