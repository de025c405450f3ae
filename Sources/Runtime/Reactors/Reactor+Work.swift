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
