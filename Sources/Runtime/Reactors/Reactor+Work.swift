/// The only ways work gets onto a reactor. A task made any other way compiles, works, and silently hops threads at
/// every resume, because it lacks the executor preference.
extension Reactor {
  /// Starts a task on this reactor from code that already runs on it. It begins when the caller suspends or returns.
  ///
  /// The closure is not `Sendable`, so it has the isolation of the code that wrote it; name the reactor inside it.
  public func start(_ work: @escaping () async -> Void) {
    // Safe: `work` was made on this reactor and runs isolated to the same reactor; it crosses no isolation boundary.
    nonisolated(unsafe) let work = work
    Task(executorPreference: executor) {
      _ = self  // The capture is what isolates this closure, and with it `work`, to the reactor.
      await work()
    }
  }

  /// Starts a task on this reactor from any thread: one job through the inbox, and a wake-up if the reactor sleeps.
  public nonisolated func submit(_ work: @escaping @Sendable (isolated Reactor) async -> Void) {
    Task(executorPreference: executor) { await work(self) }
  }

  /// Runs work on this reactor from another task and returns its result there.
  public nonisolated func perform<Result: Sendable>(
    _ work: @escaping @Sendable (isolated Reactor) async throws -> Result
  ) async throws -> Result {
    try await Task(executorPreference: executor) { try await work(self) }.value
  }

  /// Suspends the calling task on the reactor's own timers, without a helper thread.
  public func sleep(for delay: Duration) async {
    _ = await Signal().wait(for: delay, on: self)
  }
}
