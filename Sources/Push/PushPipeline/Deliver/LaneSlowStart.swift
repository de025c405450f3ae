/// How many of the deliveries that waited for a lane may be on their way at once after it is back: one, 8, 64, all.
///
/// Each step is taken when as many have been answered as it allows. A service that has just recovered, and a connection
/// whose stream limit starts at one, are not met by a backlog of thousands.
struct LaneSlowStart: Sendable {
  private static let steps = [1, 8, 64]

  private var step = 0
  private var answers = 0

  /// The most that may be in flight; nil for no bound.
  var allowance: Int? { step < Self.steps.count ? Self.steps[step] : nil }

  /// The lane is back: its probe was the first.
  mutating func begin() {
    step = 1
    answers = 0
  }

  /// A push was answered, other than by a fault of the lane.
  /// - Returns: whether more may go now.
  mutating func answered() -> Bool {
    guard let allowance else { return false }
    answers += 1
    guard answers >= allowance else { return false }
    step += 1
    answers = 0
    return true
  }
}
