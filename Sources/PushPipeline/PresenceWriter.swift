public import Postgres
public import PushStore
public import Reactors

/// Writes what apps say of their users, those of some milliseconds and of a running write in one statement.
///
/// One in each reactor. A heartbeat of everybody who looks is the most frequent request of all, and a statement for each
/// would cost the database more than everything else together. So the first waits a little for others, and what comes
/// while a write is on its way waits for the next: batches grow with the load by themselves. Each caller learns what became
/// of its own report, after it is committed. A write that fails is not tried again here: its callers are told, and apps
/// repeat themselves.
public final class PresenceWriter {
  /// Users and surfaces in one statement; what is over waits for the next one. Twice as many took 60 to 125 ms on a busy
  /// machine, and their callers wait for all of it.
  static let batchMax = 500

  /// How long the first report of a batch waits for others. Nobody sees four milliseconds more, and 10,000 users who report
  /// every 15 s are 667 reports a second: with four milliseconds, and the time of a write, a statement writes five or six of
  /// them, and the sessions take 270 µs for each where they took 630 (`deploy/measure presence`).
  private static let gathering = Duration.milliseconds(4)

  private typealias Waiter = UnsafeContinuation<Result<SurfaceStanding, PostgresError>, Never>

  /// What was said of one user and surface, and who waits for it to be written.
  private struct Entry {
    var report: PresenceReport
    var waiters: [Waiter]

    mutating func add(_ sign: PresenceSign, _ waiter: Waiter) {
      report.add(sign)
      waiters.append(waiter)
    }

    func answer(_ result: Result<SurfaceStanding, PostgresError>) {
      for waiter in waiters { waiter.resume(returning: result) }
    }
  }

  private let store: PushDatabase
  /// At most as many waiters as there are HTTP connections, each of which has one request at a time.
  private var waiting: [SurfaceView: Entry] = [:]
  private var isWriting = false

  /// Statements so far.
  private(set) var writes = 0

  /// Uses a store, which belongs to the same reactor.
  public init(store: PushDatabase) {
    self.store = store
  }

  /// Notes a sign of a user.
  /// - Returns: what the user is to the surface; unless a viewer, nothing was written.
  public func note(
    _ sign: PresenceSign, of view: SurfaceView, on reactor: isolated Reactor
  ) async throws(PostgresError) -> SurfaceStanding {
    if !isWriting {
      isWriting = true
      reactor.start { await self.writeAll(on: reactor) }
    }
    let result = await withUnsafeContinuation { (waiter: Waiter) in
      waiting[view, default: Entry(report: PresenceReport(sign), waiters: [])].add(sign, waiter)
    }
    return try result.get()
  }

  private func writeAll(on reactor: isolated Reactor) async {
    while !waiting.isEmpty {
      if waiting.count < Self.batchMax { await reactor.sleep(for: Self.gathering) }
      await write(takeBatch(), on: reactor)
    }
    isWriting = false
  }

  private func write(_ batch: [SurfaceView: Entry], on reactor: isolated Reactor) async {
    writes += 1
    do throws(PostgresError) {
      let standings = try await store.note(batch.mapValues(\.report), on: reactor)
      for (view, entry) in batch { entry.answer(.success(standings[view] ?? .unknown)) }
    } catch {
      for entry in batch.values { entry.answer(.failure(error)) }
    }
  }

  private func takeBatch() -> [SurfaceView: Entry] {
    guard waiting.count > Self.batchMax else {
      defer { waiting.removeAll(keepingCapacity: true) }
      return waiting
    }
    let batch = Dictionary(uniqueKeysWithValues: waiting.prefix(Self.batchMax).map { ($0.key, $0.value) })
    for view in batch.keys { waiting[view] = nil }
    return batch
  }
}
