internal import Glibc
internal import Synchronization

/// The clock of the simulated service: the wall clock with an offset, or a standing clock.
package final class SimulationClock: Sendable {
  private let standing: Int64?
  private let offset = Atomic<Int64>(0)

  /// A clock that follows the machine's.
  package init() {
    standing = nil
  }

  /// A clock that moves only by ``advance(milliseconds:)``.
  package init(standingAt moment: WallInstant) {
    standing = moment.microseconds
  }

  package var now: WallInstant {
    WallInstant(microseconds: (standing ?? Self.wall.microseconds) + offset.load(ordering: .relaxed))
  }

  /// Moves the simulated time; negative values move it back.
  package func advance(milliseconds: Int64) {
    offset.add(milliseconds * 1000, ordering: .relaxed)
  }

  /// The machine's wall clock, for latencies. It ignores the simulated time.
  package static var wall: WallInstant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallInstant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}

package struct WallInstant: Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z, without leap seconds.
  package var microseconds: Int64

  package init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  package init(seconds: Int64) {
    microseconds = seconds * 1_000_000
  }

  /// Whole seconds since 1970, rounded down.
  package var seconds: Int64 { microseconds / 1_000_000 }

  /// Whole milliseconds since 1970, rounded down.
  package var milliseconds: Int64 { microseconds / 1000 }

  package static func < (one: WallInstant, other: WallInstant) -> Bool {
    one.microseconds < other.microseconds
  }
}
