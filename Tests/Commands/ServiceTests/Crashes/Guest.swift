import Foundation
import Simulators
import Synchronization

/// A third replica, which joins and leaves while the others are killed and paused: conversations change hands without a death. Nothing
/// may be sent again for it.
final class Guest: Sendable {
  private let replica: Replica
  private let content = Mutex<[HandOver]>([])

  var handOvers: [HandOver] { content.withLock { $0 } }

  init(_ replica: Replica) {
    self.replica = replica
  }

  /// Joins or leaves every so many seconds, and is gone in the end.
  func play(every interval: Int, for seconds: Int) async throws {
    guard interval > 0 else { return }
    let start = ContinuousClock.now
    var isThere = false
    for moment in stride(from: interval, through: seconds, by: interval) {
      try await Task.sleep(until: start + .seconds(moment))
      if isThere { try await leave() } else { try await join() }
      isThere.toggle()
    }
    if isThere { try await leave() }
  }

  private func join() async throws {
    let beganAt = SimulationClock.wall.microseconds
    try await replica.start()
    note(.join, since: beganAt)
  }

  private func leave() async throws {
    let beganAt = SimulationClock.wall.microseconds
    note(.leave(exitCode: try await replica.stop()), since: beganAt)
  }

  private func note(_ kind: HandOver.Kind, since beganAt: Int64) {
    let handOver = HandOver(kind: kind, beganAt: beganAt, endedAt: SimulationClock.wall.microseconds)
    content.withLock { $0.append(handOver) }
  }

  /// The last lines of everything it printed.
  func tail(_ count: Int) async -> String { await replica.tail(count) }
}

/// A replica that has come or gone in peace. Times are microseconds since 1970.
struct HandOver {
  enum Kind: Equatable {
    case join
    case leave(exitCode: Int)
  }

  let kind: Kind
  let beganAt: Int64
  /// When it served, or had ended.
  let endedAt: Int64
}
