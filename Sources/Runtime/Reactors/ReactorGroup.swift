internal import CLinux
internal import Glibc

/// The reactors of a process, each on a separate thread.
package final class ReactorGroup: Sendable {
  /// The reactors in the order of their numbers; never empty.
  package let reactors: [Reactor]

  private let threads: [ReactorThread]

  /// Starts `count` reactors named `<name>-0`, `<name>-1`, and so on.
  ///
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
  ///
  /// Abandons tasks that are still suspended on a reactor: close what they wait for first.
  package func stop() async {
    for reactor in reactors { reactor.executor.requestStop() }
    for thread in threads { await thread.ended() }
  }

  /// Runs a body on a reactor that is started for it and stopped behind it.
  /// - Returns: what the body returns.
  package static func perform<Value: Sendable>(
    _ body: @escaping @Sendable (isolated Reactor) async throws -> Value
  ) async throws -> Value {
    let group = try ReactorGroup(count: 1)
    let result: Result<Value, any Error>
    do {
      result = .success(try await group.reactors[0].perform(body))
    } catch {
      result = .failure(error)
    }
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
