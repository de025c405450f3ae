internal import DequeModule
internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

/// Looks once more at every new hold, a moment after its record.
///
/// The database releases a hold when its recipient reads, looks or leaves. It cannot release an uncommitted hold, and the claim
/// that decided the hold cannot see an uncommitted read; this finds what falls between the two. A host's transaction that was
/// running then may commit much later. While one of those is running, the hold is reviewed again, each time after twice as
/// long. When this process dies meanwhile, such a hold lasts until its window ends.
final class HoldReview {
  /// Holds that wait for their review. Beyond it, a hold waits for the end of its window.
  private static let holdsMax = 20_000

  private static let batchMax = 1000

  /// The most reviews of one hold; the last is 255 times as long after its record as the first. A host's transaction that
  /// writes for longer than four minutes has worse effects.
  private static let reviewsMax = 8

  private struct Entry {
    let hold: RecordedHold
    let dueAt: UInt64
    /// The first transaction that began after the hold's record; nil before the first review.
    var nextToBegin: Int64?
  }

  /// Weak, because the reactor keeps this alive as long as a timer is set.
  private weak var pipeline: DeliveryPipeline?
  /// By the number of reviews. All of one round wait equally long, so each is in the order of its times.
  private var rounds = [Deque<Entry>](repeating: [], count: reviewsMax)
  private var timer: TimerToken?
  private var isReviewing = false

  init(of pipeline: DeliveryPipeline) {
    self.pipeline = pipeline
  }

  func add(_ hold: RecordedHold, on reactor: isolated Reactor) {
    guard let pipeline, !pipeline.isDraining else { return }
    add(hold, to: 0, nextToBegin: nil, waiting: pipeline.configuration.holdReviewWait)
    arm(on: reactor)
  }

  func cancel(on reactor: isolated Reactor) {
    if let timer { reactor.cancel(timer) }
    timer = nil
    for round in rounds.indices { rounds[round].removeAll() }
  }

  private func add(_ hold: RecordedHold, to round: Int, nextToBegin: Int64?, waiting wait: Duration) {
    guard round < Self.reviewsMax, rounds[round].count < Self.holdsMax else { return }
    let dueAt = Reactor.now &+ (wait * (1 << round)).clampedNanoseconds
    rounds[round].append(Entry(hold: hold, dueAt: dueAt, nextToBegin: nextToBegin))
  }

  private func arm(on reactor: isolated Reactor) {
    guard timer == nil, !isReviewing, let first = rounds.compactMap(\.first?.dueAt).min() else { return }
    let now = Reactor.now
    timer = reactor.schedule(after: .nanoseconds(first - min(now, first)), self)
  }

  private func review(on reactor: isolated Reactor) async {
    for round in rounds.indices {
      while let pipeline, case let due = takeDue(of: round), !due.isEmpty {
        do throws(PostgresError) {
          let reviewed = try await pipeline.store.review(due.map(\.hold), on: reactor)
          if reviewed.released > 0 { pipeline.wake(.due, on: reactor) }
          if !pipeline.isDraining { addAgain(due, after: reviewed, to: round + 1, of: pipeline) }
        } catch {
          pipeline.logger.debug("cannot review holds", metadata: ["error": "\(error)"])
        }
      }
    }
    isReviewing = false
    arm(on: reactor)
  }

  /// Adds the holds that a transaction from before their record may still concern.
  private func addAgain(
    _ entries: [Entry], after reviewed: ReviewedHolds, to round: Int, of pipeline: DeliveryPipeline
  ) {
    for entry in entries {
      let nextToBegin = entry.nextToBegin ?? reviewed.nextToBegin
      guard reviewed.oldestRunning < nextToBegin else { continue }
      add(entry.hold, to: round, nextToBegin: nextToBegin, waiting: pipeline.configuration.holdReviewWait)
    }
  }

  private func takeDue(of round: Int) -> [Entry] {
    let now = Reactor.now
    let count = rounds[round].prefix { $0.dueAt <= now }.prefix(Self.batchMax).count
    defer { rounds[round].removeFirst(count) }
    return Array(rounds[round].prefix(count))
  }
}

extension HoldReview: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    self.timer = nil
    isReviewing = true
    reactor.start { await self.review(on: reactor) }
  }
}
