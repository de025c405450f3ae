package import Logging
internal import Postgres
package import PushStore
package import Reactors

/// Says in the database, about every ten seconds, that this process lives. When it dies, the row grows old for an operator to
/// see. Work does not depend on it: leases show that a process is dead.
package final class InstanceBeacon {
  private static let interval = Duration.seconds(10)

  private static let retryWait = Duration.seconds(1)

  private let instance: ServiceInstance
  private let store: PushDatabase
  private let logger: Logger
  private let pause: WakefulPause
  private var isStopped = false

  /// Speaks for a process.
  /// - Parameter sleep: no sign is given in it.
  package init(_ instance: ServiceInstance, store: PushDatabase, sleep: DatabaseSleep? = nil, logger: Logger) {
    self.instance = instance
    self.store = store
    self.logger = logger
    pause = WakefulPause(sleep)
  }

  package func run(on reactor: isolated Reactor) async {
    while !isStopped {
      let isWritten = await write(isEnding: false, on: reactor)
      _ = await pause.wait(for: (isWritten ? Self.interval : Self.retryWait) * .random(in: 0.8...1.2), on: reactor)
    }
  }

  /// Says that the process is about to end; after ``stop(on:)``.
  package func close(on reactor: isolated Reactor) async {
    _ = await write(isEnding: true, on: reactor)
  }

  private func write(isEnding: Bool, on reactor: isolated Reactor) async -> Bool {
    do throws(PostgresError) {
      try await store.note(instance, isEnding: isEnding, on: reactor)
      return true
    } catch {
      logger.debug("cannot say whether this process lives", metadata: ["error": "\(error)"])
      return false
    }
  }

  package func stop(on reactor: isolated Reactor) {
    isStopped = true
    pause.signal(on: reactor)
  }
}
