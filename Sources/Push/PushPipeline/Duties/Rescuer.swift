internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
package import Reactors

/// Handles work that claims cannot finish: parks work that was claimed too often, enqueues events that a trigger could not,
/// frees pushes that waited for APNs beyond their life, discards messages that were inserted too old, releases holds that a
/// host's transaction could not, ends Live Activities after eight hours, and erases deleted users.
///
/// Looks every ten seconds. One runs in each process; any number may share a database. When it dies, only parked work and
/// erasures are late, because every claim takes over expired leases.
package final class Rescuer {
  private static let interval = Duration.seconds(10)

  /// Rows of each kind in one statement.
  private static let rowsMax = 500

  /// Messages discarded in one statement, which takes some tens of milliseconds.
  private static let discardedMax = 10_000

  /// Users in one pass of an erasure: few enough that one with locked rows delays few others.
  private static let usersMax = 50

  /// How long after the first pass over a user's rows a push from before may still be recorded: far longer than a lease, and
  /// than a stalled process takes without a debugger.
  private static let recordsSettled = Duration.seconds(3600)

  private let pipeline: DeliveryPipeline
  private let pause: WakefulPause

  /// Rescues for all pipelines with this one's configuration, and wakes this one.
  package init(for pipeline: DeliveryPipeline) {
    self.pipeline = pipeline
    pause = WakefulPause(pipeline.configuration.sleep)
  }

  package func run(on reactor: isolated Reactor) async {
    while !pause.isClosed {
      await pause.wait(for: Self.interval * .random(in: 0.8...1.2), on: reactor)
      guard !pause.isClosed else { break }
      await look(on: reactor)
      await erase(on: reactor)
    }
  }

  package func stop(on reactor: isolated Reactor) { pause.close(on: reactor) }

  /// One look, every kind of work to its end.
  func look(on reactor: isolated Reactor) async {
    let (store, configuration) = (pipeline.store, pipeline.configuration)
    let life = configuration.policy.timeToLive
    let discarded = await steps(of: Self.discardedMax, on: reactor) { (limit) throws(PostgresError) in
      try await store.discardTooOld(life: life, rowsMax: limit, on: reactor)
    }
    pipeline.metrics.countDiscarded(discarded)
    let released = await steps(on: reactor) { (limit) throws(PostgresError) in
      try await store.releaseQueued(rowsMax: limit, on: reactor)
    }
    pipeline.metrics.countQueuedReleases(released)
    let parked = await steps(on: reactor) { (limit) throws(PostgresError) in
      try await store.parkExhausted(rescuesMax: configuration.rescuesMax, rowsMax: limit, on: reactor)
    }
    let missed = await steps(on: reactor) { (limit) throws(PostgresError) in
      try await store.enqueueMissed(rowsMax: limit, on: reactor)
    }
    let expired = await steps(on: reactor) { (limit) throws(PostgresError) in
      try await store.releaseExpired(life: life, rowsMax: limit, on: reactor)
    }
    let tended = await steps(on: reactor) { (limit) throws(PostgresError) in
      try await store.tendLiveActivities(limit, on: reactor)
    }
    report(parked: parked, missed: missed, discarded: discarded)
    if tended + missed + expired + released > 0 { pipeline.wake(.due, on: reactor) }
  }

  /// Erases all users that the host has deleted and that are due.
  func erase(on reactor: isolated Reactor) async {
    var (rows, finished) = (0, 0)
    do throws(PostgresError) {
      var hasMore = true
      while hasMore, !pause.isClosed {
        let pass = try await pipeline.store.eraseUsers(
          usersMax: Self.usersMax, rowsMax: Self.rowsMax, settled: Self.recordsSettled, on: reactor)
        rows += pass.rows
        finished += pass.finished
        hasMore = pass.hasMore
      }
    } catch {
      pipeline.logger.log(
        level: error.blamesStatement ? .warning : .debug, "cannot erase deleted users; trying again",
        metadata: ["error": "\(error)"])
    }
    if rows + finished > 0 {
      pipeline.logger.info(
        "deleted users were erased", metadata: ["rows": "\(rows)", "usersFinished": "\(finished)"])
    }
  }

  private func report(parked: Int, missed: Int, discarded: Int) {
    if discarded > 0 {
      pipeline.logger.notice(
        "messages that were too old when they were inserted are not pushed", metadata: ["messages": "\(discarded)"])
    }
    if parked > 0 {
      pipeline.logger.error("work was parked; tacet.parked has the reasons", metadata: ["rows": "\(parked)"])
    }
    if missed > 0 {
      pipeline.logger.warning("events that a trigger could not enqueue were found", metadata: ["events": "\(missed)"])
    }
  }

  /// Repeats a step while it finds as much as its limit. One that fails keeps no other from being done.
  /// - Returns: how much it has found.
  private func steps(
    of limit: Int = rowsMax, on reactor: isolated Reactor, _ step: (Int) async throws(PostgresError) -> Int
  ) async -> Int {
    var total = 0
    do throws(PostgresError) {
      while true {
        let count = try await step(limit)
        total += count
        if count < limit { return total }
      }
    } catch {
      pipeline.logger.debug("cannot rescue work", metadata: ["error": "\(error)"])
      return total
    }
  }
}
