internal import DequeModule
internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import PushRules
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

  private let store: PushDatabase
  /// From the record of a hold to its first review.
  private let wait: Duration
  /// Weak, because the reactor keeps this alive as long as a timer is set.
  private weak var pipeline: DeliveryPipeline?
  private let logger: Logger
  /// By the number of reviews. All of one round wait equally long, so each is in the order of its times.
  private var rounds = [Deque<Entry>](repeating: [], count: reviewsMax)
  private var timer: TimerToken?
  private var isReviewing = false
  private var isClosed = false

  init(store: PushDatabase, waiting wait: Duration, logger: Logger, pipeline: DeliveryPipeline) {
    self.store = store
    self.wait = wait
    self.pipeline = pipeline
    self.logger = logger
  }

  func add(_ hold: RecordedHold, on reactor: isolated Reactor) {
    guard !isClosed else { return }
    add(hold, to: 0, nextToBegin: nil)
    arm(on: reactor)
  }

  /// Begins no further review.
  func close(on reactor: isolated Reactor) {
    isClosed = true
    reactor.cancel(&timer)
    for round in rounds.indices { rounds[round].removeAll() }
  }

  private func add(_ hold: RecordedHold, to round: Int, nextToBegin: Int64?) {
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
      while case let due = takeDue(of: round), !due.isEmpty {
        do throws(PostgresError) {
          let reviewed = try await store.review(due.map(\.hold), on: reactor)
          if reviewed.released > 0 { pipeline?.wake(.due, on: reactor) }
          if !isClosed { addAgain(due, after: reviewed, to: round + 1) }
        } catch {
          logger.debug("cannot review holds", metadata: ["error": "\(error)"])
        }
      }
    }
    isReviewing = false
    arm(on: reactor)
  }

  /// Adds the holds that a transaction from before their record may still concern.
  private func addAgain(_ entries: [Entry], after reviewed: ReviewedHolds, to round: Int) {
    for entry in entries {
      let nextToBegin = entry.nextToBegin ?? reviewed.nextToBegin
      guard reviewed.oldestRunning < nextToBegin else { continue }
      add(entry.hold, to: round, nextToBegin: nextToBegin)
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

/// Keeps the count of unread messages, which every push carries, from reading whole conversations.
///
/// Moves the marks of a user soon after a push, and again after a push an hour later; a few users at a time, with a pause after
/// each, because no caller waits for it. A forgotten user only makes a badge slower.
final class UnreadMarker {
  /// How long a user's marks are left alone.
  private static let interval = Duration.seconds(3600)
  /// Users in one statement, and the pause after it: at most 200 users a second.
  private static let batchMax = 20
  private static let pause = Duration.milliseconds(100)
  /// Users who wait, and users who are remembered, at the most: some hundred kilobytes.
  private static let waitingMax = 2000
  private static let rememberedMax = 20_000

  private let store: PushDatabase
  private let logger: Logger
  private var movedAt: [HostID: UInt64] = [:]
  private var waiting = Deque<HostID>()
  private var timer: TimerToken?
  private var isMoving = false
  private var isClosed = false

  init(store: PushDatabase, logger: Logger) {
    self.store = store
    self.logger = logger
  }

  /// A user's outcome was recorded.
  func add(_ userID: HostID, on reactor: isolated Reactor) {
    let now = Reactor.now
    if let last = movedAt[userID], now &- last < Self.interval.clampedNanoseconds { return }
    guard !isClosed, waiting.count < Self.waitingMax else { return }
    if movedAt.count >= Self.rememberedMax { movedAt.removeAll(keepingCapacity: true) }
    movedAt[userID] = now
    waiting.append(userID)
    arm(on: reactor)
  }

  /// Moves no further marks.
  func close(on reactor: isolated Reactor) {
    isClosed = true
    reactor.cancel(&timer)
    waiting.removeAll()
  }

  private func arm(on reactor: isolated Reactor) {
    guard timer == nil, !isMoving, !waiting.isEmpty else { return }
    timer = reactor.schedule(after: Self.pause, self)
  }

  private func move(on reactor: isolated Reactor) async {
    let users = Array(waiting.prefix(Self.batchMax))
    waiting.removeFirst(users.count)
    do throws(PostgresError) {
      try await store.moveUnreadMarks(of: users, on: reactor)
    } catch {
      logger.debug("cannot move the marks of unread messages", metadata: ["error": "\(error)"])
    }
    isMoving = false
    arm(on: reactor)
  }
}

extension UnreadMarker: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    self.timer = nil
    guard !waiting.isEmpty else { return }
    isMoving = true
    reactor.start { await self.move(on: reactor) }
  }
}
