import FoundationEssentials
import PushRules
import TestIDs

/// One timeline in a database: who and what its numbers are, what the oracle thinks, and what happened.
final class PresenceTimeline {
  let plan: TimelinePlan
  let conversation = HostID.new().text
  let users: [String]
  private(set) var messages: [Int: String] = [:]
  private(set) var oracle: PresenceOracle
  private var journal: [(time: Int64, text: String)] = []
  private var next = 0

  init(_ plan: TimelinePlan, window: Int64) {
    self.plan = plan
    users = plan.members.map { _ in HostID.new().text }
    oracle = PresenceOracle(plan.members, window: window)
    for case .post(let message, _) in plan.actions.map(\.action) { messages[message] = HostID.new().text }
  }

  /// The device tokens of a user, in the order of the devices' numbers.
  func tokens(of user: Int) -> [String] {
    let digits = users[user].utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    return (0..<plan.members[user].devices).map { "\(digits)0\($0)" }
  }

  /// The action of this beat, if there is one; the next call names a later beat.
  func action(step: Int, beat: Int) -> HostAction? {
    guard next < plan.actions.count, plan.actions[next].step == step, plan.actions[next].beat == beat else {
      return nil
    }
    next += 1
    return plan.actions[next - 1].action
  }

  func apply(_ action: HostAction, at time: Int64) {
    journal.append((time, "\(action)"))
    oracle.apply(action, at: time)
  }

  func judge(_ look: ObservedLook) {
    for (pair, devices) in look.pushed {
      journal.append((look.span.upperBound, "  push: message \(pair.message) to user \(pair.user) on \(devices)"))
    }
    for (pair, line) in look.ledger {
      journal.append((look.span.upperBound, "  ledger: message \(pair.message), user \(pair.user): \(line)"))
    }
    oracle.judge(look)
  }

  func judgeEnd(_ look: ObservedLook) { oracle.judgeEnd(look) }

  /// Everything in order, and what was wrong with it.
  var story: String {
    let people = plan.members.enumerated().map { number, member in
      "user \(number): \(member.devices) devices\(member.isInFromTheStart ? "" : ", not in the group yet")"
    }
    let lines = journal.map { "\(seconds($0.time)) \($0.text)" }
    return (people + lines + oracle.violations.map { "VIOLATION \($0)" }).joined(separator: "\n")
  }
}
