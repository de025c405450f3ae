/// When messages are to be inserted, whatever becomes of those before them: evenly spaced by the monotonic clock.
struct ArrivalSchedule: Sendable, Equatable {
  /// Between the making of a schedule and its first message, so that the metronome is there in time.
  static let leadNanoseconds: UInt64 = 20_000_000

  /// When number 0 is due, in monotonic nanoseconds.
  let start: UInt64
  let perSecond: Double
  /// Those that do not count, at the beginning.
  let warmUp: Int
  /// All, those that do not count included.
  let count: Int

  init(start: UInt64, perSecond: Double, warmUpSeconds: Double, seconds: Double) {
    self.start = start
    self.perSecond = perSecond
    warmUp = Int((perSecond * warmUpSeconds).rounded())
    count = warmUp + max(1, Int((perSecond * seconds).rounded()))
  }

  /// Those that count.
  var counted: Range<Int> { warmUp..<count }

  /// When a message is due, in monotonic nanoseconds.
  func due(_ number: Int) -> UInt64 { start &+ UInt64(Double(number) / perSecond * 1e9) }

  /// From the first that counts to the moment at which one more would be due, in monotonic nanoseconds.
  var countedSpan: Range<UInt64> { due(warmUp)..<due(count) }

  /// How many are due at a moment.
  func dueCount(at now: UInt64) -> Int {
    guard now >= start else { return 0 }
    var number = min(count, Int(Double(now - start) / 1e9 * perSecond) + 1)
    // The division may round to the other side of an edge; `due` decides.
    while number > 0, due(number - 1) > now { number -= 1 }
    while number < count, due(number) <= now { number += 1 }
    return number
  }
}
