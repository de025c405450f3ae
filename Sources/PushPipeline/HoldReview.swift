internal import DequeModule
internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

/// Looks once more at every new hold, a moment after its record.
///
/// The database releases a hold when somebody reads, looks or leaves. It cannot release one that is not committed yet,
/// and the claim that decided the hold cannot see what is not committed either; what falls between the two is found
/// here. When this process dies meanwhile, such a hold lasts until its window ends.
final class HoldReview {
  /// Holds waiting for their review. More than this in one second are reviewed when their window ends.
  private static let holdsMax = 20_000

  /// Holds in one statement.
  private static let batchMax = 1000

  private struct Entry {
    let hold: RecordedHold
    let dueAt: UInt64
  }

  /// Weak, because the reactor keeps this alive as long as a timer is set.
  private weak var pipeline: DeliveryPipeline?
  private var entries = Deque<Entry>()
  private var timer: TimerToken?
  private var isReviewing = false

  init(of pipeline: DeliveryPipeline) {
    self.pipeline = pipeline
  }

  func add(_ hold: RecordedHold, on reactor: isolated Reactor) {
    guard let pipeline, !pipeline.isDraining, entries.count < Self.holdsMax else { return }
    entries.append(Entry(hold: hold, dueAt: Reactor.now &+ pipeline.configuration.holdReviewWait.clampedNanoseconds))
    arm(on: reactor)
  }

  func cancel(on reactor: isolated Reactor) {
    if let timer { reactor.cancel(timer) }
    timer = nil
    entries.removeAll()
  }

  private func arm(on reactor: isolated Reactor) {
    guard timer == nil, !isReviewing, let first = entries.first else { return }
    let now = Reactor.now
    timer = reactor.schedule(after: .nanoseconds(first.dueAt - min(now, first.dueAt)), self)
  }

  private func review(on reactor: isolated Reactor) async {
    while let pipeline, case let holds = takeDue(), !holds.isEmpty {
      do throws(PostgresError) {
        if try await pipeline.store.review(holds, on: reactor) > 0 { pipeline.wake(.due, on: reactor) }
      } catch {
        pipeline.logger.debug("cannot review holds", metadata: ["error": "\(error)"])
      }
    }
    isReviewing = false
    arm(on: reactor)
  }

  private func takeDue() -> [RecordedHold] {
    let now = Reactor.now
    let count = entries.prefix { $0.dueAt <= now }.prefix(Self.batchMax).count
    defer { entries.removeFirst(count) }
    return entries.prefix(count).map(\.hold)
  }
}

extension HoldReview: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    self.timer = nil
    isReviewing = true
    reactor.start { await self.review(on: reactor) }
  }
}
