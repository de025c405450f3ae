package import Logging
internal import Postgres
package import PushStore
package import Reactors

/// Deletes old rows: finished rows of the ledger, parked work, errors of the triggers. Where users are deleted in `auth.users`
/// alone, it finds the deleted ones.
///
/// First within ten seconds of its start, then about hourly; batches of a thousand rows with a pause after each, every batch a
/// separate transaction. One in each process; they share the work, because each skips the rows that another is deleting. When
/// it dies or fails, old rows stay until the next round of any process.
package final class Pruner {
  package struct Pace: Sendable {
    /// The longest wait before the first round, so that processes that start together do not prune together.
    package var firstWaitMax = Duration.seconds(10)
    /// The wait between two rounds, plus or minus a quarter. In an hour a busy ledger (250 rows a second) ages by 900,000
    /// rows, which take two minutes to delete.
    package var interval = Duration.seconds(3600)
    /// After each full batch: at most 10,000 rows a second, so that pruning never competes with the host.
    package var pause = Duration.milliseconds(100)

    package init() {}
  }

  /// Users that one statement looks up in `auth.users`, in some ten milliseconds.
  private static let usersMax = 500

  private let store: PushDatabase
  private let retention: Duration
  private let pace: Pace
  private let logger: Logger
  private let pause: WakefulPause

  package private(set) var rowsPruned = 0

  /// Makes a pruner; ``run(on:)`` makes it work.
  /// - Parameters:
  ///   - retention: how long rows are kept, from the event on. sleep: nothing is deleted in it.
  package init(
    store: PushDatabase, retention: Duration, pace: Pace = Pace(), sleep: DatabaseSleep? = nil, logger: Logger
  ) {
    self.store = store
    self.retention = retention
    self.pace = pace
    self.logger = logger
    pause = WakefulPause(sleep)
  }

  package func run(on reactor: isolated Reactor) async {
    await pause.wait(for: pace.firstWaitMax * Double.random(in: 0..<1), on: reactor)
    while !pause.isClosed {
      await prune(on: reactor)
      await findGoneUsers(on: reactor)
      await pause.wait(for: pace.interval * Double.random(in: 0.75..<1.25), on: reactor)
    }
  }

  /// Begins no further batch. One under way ends by itself.
  package func stop(on reactor: isolated Reactor) { pause.close(on: reactor) }

  /// Prunes every table, even if one fails because it is gone or the role lacks the right.
  private func prune(on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      for table in try await store.prunedTables(on: reactor) where !pause.isClosed { await prune(table, on: reactor) }
    } catch {
      logger.warning("cannot prune; trying again later", metadata: ["error": "\(error)"])
    }
  }

  private func prune(_ table: String, on reactor: isolated Reactor) async {
    var rows = 0
    do throws(PostgresError) {
      while !pause.isClosed {
        let batch = try await store.prune(table, olderThan: retention, on: reactor)
        rows += batch.rows
        rowsPruned += batch.rows
        guard batch.isFull else { break }
        await pause.wait(for: pace.pause, on: reactor)
      }
      if rows > 0 { logger.debug("pruned", metadata: ["table": "\(table)", "rows": "\(rows)"]) }
    } catch {
      logger.warning("cannot prune; trying again later", metadata: ["table": "\(table)", "error": "\(error)"])
    }
  }

  /// Finds deleted users for the rescuer to erase.
  private func findGoneUsers(on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      var last = try await store.queueGoneUsers(after: nil, usersMax: Self.usersMax, on: reactor)
      while last != nil, !pause.isClosed {
        await pause.wait(for: pace.pause, on: reactor)
        last = try await store.queueGoneUsers(after: last, usersMax: Self.usersMax, on: reactor)
      }
    } catch {
      logger.warning("cannot look for users who are gone; trying again later", metadata: ["error": "\(error)"])
    }
  }
}

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
    await pause.wait(for: pace.firstWaitMax * Double.random(in: 0..<1), on: reactor)
    while !pause.isClosed { await pause.wait(for: await analyse(on: reactor), on: reactor) }
  }

  /// Begins no further analysis. One under way ends by itself.
  package func stop(on reactor: isolated Reactor) { pause.close(on: reactor) }

  /// - Returns: after how long to ask again.
  private func analyse(on reactor: isolated Reactor) async -> Duration {
    do throws(PostgresError) {
      return min(try await store.analyseEngagement(on: reactor), pace.waitMax)
    } catch {
      logger.warning("cannot analyse engagement; trying again later", metadata: ["error": "\(error)"])
      return pace.retryWait
    }
  }
}
