internal import CLinux
internal import Glibc
internal import Synchronization

/// The reactors of a process, each on a separate thread.
public final class ReactorGroup: Sendable {
  /// The reactors in the order of their numbers; never empty.
  public let reactors: [Reactor]

  private let threads: [ReactorThread]

  /// Starts `count` reactors named `<name>-0`, `<name>-1`, and so on.
  ///
  /// Also ignores SIGPIPE for the process, so that a write to a closed socket returns an error.
  /// - Throws: ``SystemError`` when the system has no descriptors or threads left.
  public init(count: Int, name: String = "reactor") throws(SystemError) {
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
  ///
  /// Abandons tasks that are still suspended on a reactor: close what they wait for first.
  public func stop() async {
    for reactor in reactors { reactor.executor.requestStop() }
    for thread in threads { await thread.ended() }
  }

  /// The processors that this process may use: the default size of a group.
  public static var processorCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
}

/// One reactor's thread, from its start to its end.
private final class ReactorThread: Sendable {
  private let end: ThreadEnd
  private let handle: pthread_t

  init(running reactor: Reactor) throws(SystemError) {
    let end = ThreadEnd(of: reactor)
    var handle = pthread_t()
    let argument = Unmanaged.passRetained(end)
    let code = pthread_create(&handle, nil, { runReactor($0) }, argument.toOpaque())
    guard code == 0 else {
      argument.release()
      throw SystemError(operation: "pthread_create", code: code)
    }
    self.end = end
    self.handle = handle
  }

  /// Returns when the thread has ended. The join takes microseconds, because the thread has announced its end.
  func ended() async {
    await end.announced()
    pthread_join(handle, nil)
  }
}

private func runReactor(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  // `ReactorThread.init` retained it once for this thread.
  let end = Unmanaged<ThreadEnd>.fromOpaque(argument).takeRetainedValue()
  clinux_name_current_thread(String(end.reactor.name.prefix(15)))
  end.reactor.executor.adoptCurrentThread()
  end.reactor.assumeIsolated { $0.run() }
  end.announce()
  return nil
}

/// Lets a task wait for the end of a reactor's loop.
private final class ThreadEnd: Sendable {
  private enum State {
    case running(UnsafeContinuation<Void, Never>?)
    case ended
  }

  let reactor: Reactor
  private let state = Mutex(State.running(nil))

  init(of reactor: Reactor) {
    self.reactor = reactor
  }

  func announce() {
    let previous = state.withLock { state in
      defer { state = .ended }
      return state
    }
    if case .running(let waiter) = previous { waiter?.resume() }
  }

  func announced() async {
    await withUnsafeContinuation { continuation in
      let hasEnded = state.withLock { state in
        if case .ended = state { return true }
        state = .running(continuation)
        return false
      }
      if hasEnded { continuation.resume() }
    }
  }
}
