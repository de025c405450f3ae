package import Logging
internal import Postgres
package import PushStore
package import Reactors

/// Stores every 72 hours how engaged users are.
///
/// One in each process; the database lets one of them do it. First within ten seconds of its start, then when the next analysis is
/// due. One that fails is tried again after five minutes. When it dies, another process does it.
package final class EngagementAnalyst {
  package struct Pace: Sendable {
    package var firstWaitMax = Duration.seconds(10)
    /// The longest wait between two times, however long until the next analysis is due: the clock of the database may be set.
    package var waitMax = Duration.seconds(3600)
    /// After a failure. A count that takes too long costs a minute of the database's work each time.
    package var retryWait = Duration.seconds(300)

    package init() {}
  }

  private let store: PushDatabase
  private let pace: Pace
  private let logger: Logger
  private let pause: WakefulPause
  private var isStopped = false

  /// Makes an analyst; ``run(on:)`` makes it work.
  /// - Parameters:
  ///   - store: with a pool that the pipeline does not use; see ``PushDatabase/analysisPool(_:logger:)``.
  ///   - sleep: nothing is analysed in it.
  package init(store: PushDatabase, pace: Pace = Pace(), sleep: DatabaseSleep? = nil, logger: Logger) {
    self.store = store
    self.pace = pace
    self.logger = logger
    pause = WakefulPause(sleep)
  }

  package func run(on reactor: isolated Reactor) async {
    await wait(for: pace.firstWaitMax * Double.random(in: 0..<1), on: reactor)
    while !isStopped { await wait(for: await analyse(on: reactor), on: reactor) }
  }

  /// Begins no further analysis. One under way ends by itself.
  package func stop(on reactor: isolated Reactor) {
    isStopped = true
    pause.signal(on: reactor)
  }

  /// - Returns: after how long to ask again.
  private func analyse(on reactor: isolated Reactor) async -> Duration {
    do throws(PostgresError) {
      return min(try await store.analyseEngagement(on: reactor), pace.waitMax)
    } catch {
      logger.warning("cannot analyse engagement; trying again later", metadata: ["error": "\(error)"])
      return pace.retryWait
    }
  }

  private func wait(for time: Duration, on reactor: isolated Reactor) async {
    if !isStopped { _ = await pause.wait(for: time, on: reactor) }
  }
}
