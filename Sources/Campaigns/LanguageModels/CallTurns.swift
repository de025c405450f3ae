internal import DequeModule
internal import Reactors

/// Lets so many calls through at the same time, the others in the order in which they came.
final class CallTurns {
  private let activeMax: Int
  private let waitingMax: Int
  private var activeCount = 0
  private var waiting = Deque<Signal>()

  init(activeMax: Int, waitingMax: Int) {
    precondition(activeMax > 0, "no call would ever have its turn")
    self.activeMax = activeMax
    self.waitingMax = waitingMax
  }

  /// Calls that have their turn or wait for it.
  var count: Int { activeCount + waiting.count }

  /// What becomes of a call.
  enum Admission {
    /// It has its turn.
    case turn
    /// It has it once its signal is given.
    case queued
    /// Too many wait.
    case refused
  }

  func enter(_ signal: Signal) -> Admission {
    if activeCount < activeMax {
      activeCount += 1
      return .turn
    }
    guard waiting.count < waitingMax else { return .refused }
    waiting.append(signal)
    return .queued
  }

  /// The call is over; its turn goes to the one that has waited longest. One that was still waiting had none.
  func leave(_ signal: Signal, on reactor: isolated Reactor) {
    if let place = waiting.firstIndex(where: { $0 === signal }) {
      waiting.remove(at: place)
    } else if let next = waiting.popFirst() {
      next.signal(on: reactor)
    } else {
      activeCount -= 1
    }
  }
}
