/// Something that people or the host application do in one conversation. People are numbered within it, and so are
/// messages; an action on something that is not there (any more) does nothing.
enum HostAction: Equatable, Sendable {
  case post(message: Int, author: Int)
  /// `last_seen = now()`.
  case look(Int)
  /// `tacet_left_at = now()`.
  case leaveScreen(Int)
  /// `touches`: whether the host moves `updated_at` with it.
  case read(Int, messages: [Int], touches: Bool)
  case edit(message: Int)
  case delete(message: Int)
  case join(Int)
  case leaveGroup(Int)
}

/// An action and its place in a timeline.
struct PlannedAction: Equatable, Sendable {
  let step: Int
  /// Half of a step: a transaction of its own.
  let beat: Int
  let action: HostAction
}

/// Someone in a timeline.
struct PlannedMember: Equatable, Sendable {
  let devices: Int
  let isInFromTheStart: Bool
}

/// What happens in one conversation, apart from the times of its steps.
struct TimelinePlan: Equatable, Sendable {
  /// Between two looks of the service there are this many transactions.
  static let beats = 2

  var members: [PlannedMember]
  var actions: [PlannedAction]

  /// Plans without a run of the actions: halves, quarters, down to single ones.
  var shorter: [TimelinePlan] {
    var plans: [TimelinePlan] = []
    var length = (actions.count + 1) / 2
    while length > 0 {
      for first in stride(from: 0, to: actions.count, by: length) {
        plans.append(without(first..<min(first + length, actions.count)))
      }
      length /= 2
    }
    return plans
  }

  private func without(_ range: Range<Int>) -> TimelinePlan {
    var plan = self
    plan.actions.removeSubrange(range)
    return plan
  }
}

extension HostAction: CustomStringConvertible {
  var description: String {
    switch self {
    case .post(let message, let author): "user \(author) posts message \(message)"
    case .look(let user): "user \(user) looks (last_seen = now())"
    case .leaveScreen(let user): "user \(user) leaves the screen (tacet_left_at = now())"
    case .read(let user, let messages, let touches):
      "user \(user) reads \(messages)\(touches ? "" : ", updated_at stays")"
    case .edit(let message): "message \(message) is edited"
    case .delete(let message): "message \(message) is deleted"
    case .join(let user): "user \(user) joins the group"
    case .leaveGroup(let user): "user \(user) leaves the group"
    }
  }
}
