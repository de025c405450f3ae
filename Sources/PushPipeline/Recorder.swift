internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

/// Writes decided events to the database, those of one tick and of a running write in one statement.
///
/// While a write is on its way, what is decided meanwhile waits for the next: batches grow with the load by themselves.
/// A write that fails is tried again while its claim is still ours. After that it is given up: another claim will find
/// the event in the inbox and send it again under the same identifiers.
final class Recorder: TickEndHandler {
  /// Between two tries of a failed write.
  private static let retryWait = Duration.milliseconds(100)

  private let store: PushDatabase
  private let lease: Duration
  private let logger: Logger
  private weak var owner: (any RecorderOwner)?
  private var waiting: [DecidedEvent] = []
  private var isWriting = false
  private var isTickEndAsked = false

  init(store: PushDatabase, lease: Duration, logger: Logger, owner: any RecorderOwner) {
    self.store = store
    self.lease = lease
    self.logger = logger
    self.owner = owner
  }

  func add(_ event: DecidedEvent, on reactor: isolated Reactor) {
    waiting.append(event)
    guard !isWriting, !isTickEndAsked else { return }
    isTickEndAsked = true
    reactor.callAtTickEnd(self)
  }

  func tickEnded(on reactor: isolated Reactor) {
    isTickEndAsked = false
    guard !isWriting, !waiting.isEmpty else { return }
    isWriting = true
    reactor.start { await self.writeAll(on: reactor) }
  }

  private func writeAll(on reactor: isolated Reactor) async {
    while let batch = takeBatch() {
      await write(batch, on: reactor)
      owner?.recorded(batch, on: reactor)
    }
    isWriting = false
  }

  /// One event that the database refuses must not keep the others from being recorded: the batch is halved around it.
  private func write(_ batch: [DecidedEvent], on reactor: isolated Reactor) async {
    let deadline = Reactor.now + lease.clampedNanoseconds
    while true {
      do throws(PostgresError) {
        return try await store.record(batch, on: reactor)
      } catch {
        if error.isOurMistake, batch.count > 1 { return await writeHalves(of: batch, on: reactor) }
        let isFinal = error.isOurMistake || Reactor.now >= deadline
        logger.error(
          "cannot record outcomes",
          metadata: ["events": "\(batch.count)", "error": "\(error)", "gives_up": "\(isFinal)"])
        if isFinal { return }
      }
      await reactor.sleep(for: Recorder.retryWait)
    }
  }

  private func writeHalves(of batch: [DecidedEvent], on reactor: isolated Reactor) async {
    await write(Array(batch[..<(batch.count / 2)]), on: reactor)
    await write(Array(batch[(batch.count / 2)...]), on: reactor)
  }

  /// The next batch; what does not go into it stays, in order.
  private func takeBatch() -> [DecidedEvent]? {
    guard !waiting.isEmpty else { return nil }
    var batch = RecordBatch()
    waiting.removeAll { batch.take($0) }
    return batch.events
  }
}

/// Told what has left the recorder.
protocol RecorderOwner: AnyObject {
  /// These events were written, or given up; in both cases they are no longer ours.
  func recorded(_ events: [DecidedEvent], on reactor: isolated Reactor)
}

extension PostgresError {
  /// A statement the server refused as such will be refused again.
  fileprivate var isOurMistake: Bool {
    guard let state = sqlState else { return code == .decoding || code == .invalidParameter }
    return state.isDataException || state.isIntegrityConstraintViolation || state.conditionClass == "42"
  }
}
