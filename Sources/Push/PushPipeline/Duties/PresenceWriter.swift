package import Logging
package import Postgres
package import PushRules
package import PushStore
package import Reactors

/// Writes the presence reports of apps, those of some milliseconds and of a running write in one statement.
///
/// One in each reactor. The heartbeat of every viewer is the most frequent request of all, and a statement for each would cost
/// the database more than the rest together. So the first report waits a little for others, and reports during a write wait for
/// the next: batches grow with the load. Each caller gets the result of its report after the commit.
///
/// - A locked row is left out of its statement and retried a few times, with later reports of the same view: a host's
///   transaction delays no other report.
/// - A statement that the database refuses is written again in parts, so that one report fails alone.
/// - Any other failure goes to the callers, and apps repeat their reports.
package final class PresenceWriter {
  /// Users and surfaces in one statement; more wait for the next one. Twice as many took 60 to 125 ms on a busy machine, and
  /// their callers wait for all of it.
  static let batchMax = 500

  /// How long the first report of a batch waits for others. No user notices four milliseconds. 10,000 users who report every
  /// 15 s are 667 reports a second: with four milliseconds and the time of a write, a statement writes five or six, and the
  /// sessions take 270 µs for each instead of 630.
  private static let gathering = Duration.milliseconds(4)

  /// Waits before a locked row is written again: 300 ms in all. A host's transactions take milliseconds; after a longer lock
  /// the app reports again.
  private static let retryWaits: [Duration] = [.milliseconds(20), .milliseconds(80), .milliseconds(200)]

  /// The most statements for one batch that the database refuses. To find one report among 500 takes 19.
  private static let statementsPerBatchMax = 64

  /// Failed statements after which the database seems to refuse every report, because of a host's function.
  private static let refusalsMax = 8

  private typealias Waiter = UnsafeContinuation<Result<SurfaceStanding, PostgresError>, Never>

  private typealias Batch = [SurfaceView: Entry]

  /// The reports about one user and surface, and the callers that wait for their write.
  private struct Entry {
    var report: PresenceReport
    var waiters: [Waiter]
    /// How often its row was locked.
    var retries = 0

    mutating func add(_ sign: PresenceSign, _ waiter: Waiter) {
      report.add(sign)
      waiters.append(waiter)
    }

    mutating func add(_ later: Entry) {
      report.add(later.report)
      waiters += later.waiters
    }

    func answer(_ result: Result<SurfaceStanding, PostgresError>) {
      for waiter in waiters { waiter.resume(returning: result) }
    }
  }

  private let store: PushDatabase
  /// At most as many waiters as HTTP connections, each of which has one request at a time.
  private var waiting: Batch = [:]
  /// Locked reports that wait for their retry. Later reports of the same view join them, to keep their order.
  private var locked: Batch = [:]
  private var isWriting = false

  private(set) var writes = 0

  /// Uses a store, which belongs to the same reactor.
  package init(store: PushDatabase) {
    self.store = store
  }

  /// Writes a sign of a user.
  /// - Returns: the user's relation to the surface; only a viewer's sign is written.
  package func note(
    _ sign: PresenceSign, of view: SurfaceView, on reactor: isolated Reactor
  ) async throws(PostgresError) -> SurfaceStanding {
    let result = await withUnsafeContinuation { (waiter: Waiter) in
      if locked[view]?.add(sign, waiter) == nil {
        waiting[view, default: Entry(report: PresenceReport(sign), waiters: [])].add(sign, waiter)
        startWriting(on: reactor)
      }
    }
    return try result.get()
  }

  private func startWriting(on reactor: isolated Reactor) {
    guard !isWriting else { return }
    isWriting = true
    reactor.start { await self.writeAll(on: reactor) }
  }

  private func writeAll(on reactor: isolated Reactor) async {
    while !waiting.isEmpty {
      if waiting.count < Self.batchMax { await reactor.sleep(for: Self.gathering) }
      await write(takeBatch(), on: reactor)
    }
    isWriting = false
  }

  /// Writes a batch, in halves and their halves where the database refuses it.
  private func write(_ batch: Batch, on reactor: isolated Reactor) async {
    var parts = [batch]
    var (statements, written) = (0, 0)
    while let part = parts.popLast() {
      statements += 1
      writes += 1
      do throws(PostgresError) {
        settle(part, try await store.note(part.mapValues(\.report), on: reactor), on: reactor)
        written += 1
      } catch {
        let isWorthIt = written > 0 || statements < Self.refusalsMax
        if error.isRefusal, isWorthIt, part.count > 1, statements + parts.count < Self.statementsPerBatchMax {
          parts += Self.halves(of: part)
        } else {
          for entry in part.values { entry.answer(.failure(error)) }
        }
      }
    }
  }

  private static func halves(of batch: Batch) -> [Batch] {
    let middle = batch.index(batch.startIndex, offsetBy: batch.count / 2)
    return [batch[..<middle], batch[middle...]].map { Dictionary(uniqueKeysWithValues: $0.map { ($0.key, $0.value) }) }
  }

  /// Answers the callers whose reports were written; locked ones wait until their retries are used up.
  private func settle(_ part: Batch, _ standings: [SurfaceView: SurfaceStanding], on reactor: isolated Reactor) {
    var again: [Int: [SurfaceView]] = [:]
    for (view, entry) in part {
      let standing = standings[view] ?? .unknown
      if standing == .busy, entry.retries < Self.retryWaits.count {
        again[entry.retries, default: []].append(view)
        postpone(view, entry)
      } else {
        entry.answer(.success(standing))
      }
    }
    for (retries, views) in again {
      reactor.start {
        await reactor.sleep(for: Self.retryWaits[retries])
        self.resume(views, on: reactor)
      }
    }
  }

  private func postpone(_ view: SurfaceView, _ entry: Entry) {
    var entry = entry
    entry.retries += 1
    if let later = waiting.removeValue(forKey: view) { entry.add(later) }
    locked[view] = entry
  }

  private func resume(_ views: [SurfaceView], on reactor: isolated Reactor) {
    for view in views { waiting[view] = locked.removeValue(forKey: view) }
    startWriting(on: reactor)
  }

  private func takeBatch() -> Batch {
    guard waiting.count > Self.batchMax else {
      defer { waiting.removeAll(keepingCapacity: true) }
      return waiting
    }
    let batch = Dictionary(uniqueKeysWithValues: waiting.prefix(Self.batchMax).map { ($0.key, $0.value) })
    for view in batch.keys { waiting[view] = nil }
    return batch
  }
}

/// Notes when users were active, from the requests of their apps.
///
/// One in each reactor. Most requests are signs of users who were noted a moment ago: those cost nothing. The others are written
/// together, a second later, by one statement. No request waits for it, except one that says nothing else. A statement that fails
/// is logged, and the users' next signs are written.
package final class ActivityWriter {
  /// How long a user who was noted is not noted again, as the database does it.
  private static let interval = Duration.seconds(300)

  /// How long the first sign waits for others.
  private static let gathering = Duration.seconds(1)

  /// Users who are remembered. When there are more, all are forgotten: the database knows as well, and this is 5 MB.
  static let usersMax = 50_000

  private let store: PushDatabase
  private let logger: Logger
  private var notedAt: [HostID: UInt64] = [:]
  private var waiting: [HostID] = []

  private(set) var writes = 0

  /// Uses a store, which belongs to the same reactor.
  package init(store: PushDatabase, logger: Logger) {
    self.store = store
    self.logger = logger
  }

  /// Notes a sign of a user, soon.
  package func note(_ user: HostID, on reactor: isolated Reactor) {
    guard remember(user) else { return }
    waiting.append(user)
    guard waiting.count == 1 else { return }
    reactor.start {
      await reactor.sleep(for: Self.gathering)
      await self.writeWaiting(on: reactor)
    }
  }

  /// Notes that a user is active, before it returns.
  package func write(_ user: HostID, on reactor: isolated Reactor) async throws(PostgresError) {
    guard remember(user) else { return }
    try await write([user], on: reactor)
  }

  /// - Returns: whether the user is to be written.
  private func remember(_ user: HostID) -> Bool {
    let now = Reactor.now
    if let last = notedAt[user], now &- last < Self.interval.clampedNanoseconds { return false }
    if notedAt.count >= Self.usersMax { notedAt.removeAll(keepingCapacity: true) }
    notedAt[user] = now
    return true
  }

  private func writeWaiting(on reactor: isolated Reactor) async {
    let users = waiting
    waiting = []
    do throws(PostgresError) {
      try await write(users, on: reactor)
    } catch {
      logger.warning("activity of users was not noted", metadata: ["users": "\(users.count)", "error": "\(error)"])
    }
  }

  private func write(_ users: [HostID], on reactor: isolated Reactor) async throws(PostgresError) {
    writes += 1
    do throws(PostgresError) {
      try await store.noteActivity(of: users, on: reactor)
    } catch {
      for user in users { notedAt[user] = nil }
      throw error
    }
  }
}
