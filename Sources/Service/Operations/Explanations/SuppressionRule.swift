internal import PushRules
internal import PushStore

/// One of the questions that can keep a push back, answered from what was recorded: the gate's own, then the rules of
/// `SuppressionPolicy` in their precedence.
enum SuppressionRule: Equatable {
  /// The gate asks this before the rules, unless the message is deleted.
  case participant
  case policy(SuppressionPolicy.Rule)

  /// In the order in which they are asked.
  static let allCases = [.participant] + SuppressionPolicy.Rule.allCases.map(SuppressionRule.policy)

  func applies(to known: HistoryEntry.Situation) -> Bool {
    switch self {
    case .participant: !known.isParticipant && !known.isDeleted
    case .policy(let rule): rule.decision(for: known.recipientSituation, by: known.policy) != nil
    }
  }

  /// The reason that the ledger gets when it applies.
  var reason: String {
    switch self {
    case .participant: "not_participant"
    case .policy(let rule): rule.reason.rawValue
    }
  }

  /// The first rule that applied; nil when the push could go.
  static func first(for known: HistoryEntry.Situation) -> SuppressionRule? {
    allCases.first { $0.applies(to: known) }
  }

  /// What was asked, up to the rule that decided. What most kinds of push cannot be is told where it applies.
  static func asked(of known: HistoryEntry.Situation) -> [SuppressionRule] {
    let last = allCases.firstIndex { $0.applies(to: known) } ?? allCases.endIndex - 1
    return allCases[...last].filter { rule in
      ![.policy(.cancelled), .policy(.capped)].contains(rule) || rule.applies(to: known)
    }
  }
}
