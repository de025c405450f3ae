internal import DequeModule
internal import PushStore
internal import Reactors

/// Claimed users who wait for a look, shared by those who look.
final class TurnBatch {
  private var waiting: Deque<CampaignTurn>
  private let deadline: UInt64
  private var lookers: Int
  private let done = Signal()
  private var isStopped = false

  /// - Parameter deadline: monotonic nanoseconds after which nobody is begun.
  init(_ turns: [CampaignTurn], lookers: Int, until deadline: UInt64) {
    waiting = Deque(turns)
    self.lookers = lookers
    self.deadline = deadline
  }

  /// The next user; nil when there is none, or no time.
  func next() -> CampaignTurn? { isStopped || Reactor.now >= deadline ? nil : waiting.popFirst() }

  /// Begins nobody more.
  func stop() { isStopped = true }

  /// One of the lookers has ended.
  func lookerEnded(on reactor: isolated Reactor) {
    lookers -= 1
    if lookers == 0 { done.signal(on: reactor) }
  }

  /// Waits for all lookers.
  /// - Returns: those who were not begun.
  func finished(on reactor: isolated Reactor) async -> [CampaignTurn] {
    _ = await done.wait(on: reactor)
    return Array(waiting)
  }
}
