/// What a model run counted.
struct PresenceTally: Sendable {
  var timelines = 0
  var actions = 0
  var messages = 0
  /// Message and recipient.
  var pairs = 0
  var pushes = 0
  var holds = 0
  /// Looks that a window's end fell into, so that both a push and a hold were right.
  var unclear = 0
  /// By the number of the property.
  var violations: [Int: Int] = [:]

  static func += (sum: inout PresenceTally, other: PresenceTally) {
    sum.timelines += other.timelines
    sum.actions += other.actions
    sum.messages += other.messages
    sum.pairs += other.pairs
    sum.pushes += other.pushes
    sum.holds += other.holds
    sum.unclear += other.unclear
    sum.violations.merge(other.violations, uniquingKeysWith: +)
  }
}

extension PresenceTally: CustomStringConvertible {
  var description: String {
    let broken = PresenceViolation.properties.indices.map { "(\($0 + 1)) \(violations[$0 + 1] ?? 0)" }
    return """
      \(timelines) timelines, \(actions) actions, \(messages) messages, \(pairs) message-recipient pairs, \
      \(pushes) pushes, \(holds) holds, \(unclear) unclear, violations \(broken.joined(separator: ", "))
      """
  }
}

/// A property that did not hold for a pair.
struct PresenceViolation: Sendable {
  /// By number, from 1.
  static let properties = [
    "nobody is pushed while looking, or about what they have read, seen or lost",
    "nobody is left with an unread message that was never pushed",
    "nothing is pushed twice",
    "what may be pushed is pushed in the same step",
    "the ledger says what happened and why",
  ]

  let property: Int
  let pair: PresencePair
  let time: Int64
  let text: String
}

extension PresenceViolation: CustomStringConvertible {
  var description: String {
    "\(seconds(time)) (\(property)) message \(pair.message) to user \(pair.user): \(text)"
  }
}

/// Virtual microseconds as seconds, to be read by people.
func seconds(_ microseconds: Int64) -> String {
  let milliseconds = (microseconds / 1000 % 1000).description
  return "\(microseconds / 1_000_000).\(String(repeating: "0", count: 3 - milliseconds.count))\(milliseconds) s"
}
