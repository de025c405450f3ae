internal import DequeModule
internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

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

  /// Weak, because the reactor keeps this alive as long as a timer is set.
  private weak var pipeline: DeliveryPipeline?
  private var movedAt: [HostID: UInt64] = [:]
  private var waiting = Deque<HostID>()
  private var timer: TimerToken?
  private var isMoving = false

  init(of pipeline: DeliveryPipeline) {
    self.pipeline = pipeline
  }

  /// A user's outcome was recorded.
  func add(_ userID: HostID, on reactor: isolated Reactor) {
    let now = Reactor.now
    if let last = movedAt[userID], now &- last < Self.interval.clampedNanoseconds { return }
    guard let pipeline, !pipeline.isDraining, waiting.count < Self.waitingMax else { return }
    if movedAt.count >= Self.rememberedMax { movedAt.removeAll(keepingCapacity: true) }
    movedAt[userID] = now
    waiting.append(userID)
    arm(on: reactor)
  }

  func cancel(on reactor: isolated Reactor) {
    if let timer { reactor.cancel(timer) }
    timer = nil
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
      try await pipeline?.store.moveUnreadMarks(of: users, on: reactor)
    } catch {
      pipeline?.logger.debug("cannot move the marks of unread messages", metadata: ["error": "\(error)"])
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
