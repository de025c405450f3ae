internal import PushRules
internal import PushStore

/// One of the rules that can keep a push back, told from what was recorded.
///
/// The order of the cases is that in which they are asked; `SuppressionPolicy` decides, and a test holds these words
/// against it.
enum SuppressionRule: CaseIterable {
  case participant, deleted, read, expired, sawItArrive, optedOut, muted, mentionsOnly, devices, quietHours, viewing

  /// Whether it applied.
  func applies(to known: HistoryEntry.Situation) -> Bool {
    switch self {
    case .participant: !known.isParticipant && !known.isDeleted
    case .deleted: known.isDeleted
    case .read: known.hasRead
    case .expired: known.messageAge - known.heldFor > known.timeToLive
    case .sawItArrive: known.sawAfterMessage && (known.lastSeenAge ?? -1) >= 0
    case .optedOut: known.isOptedOut
    case .muted: known.isMuted
    case .mentionsOnly: known.wantsMentionsOnly && !known.isMentioned
    case .devices: known.deviceCount <= 0
    case .quietHours: (known.quietHoursRemaining ?? 0) > 0
    case .viewing: !known.hasLeft && known.signOfPresence.map { known.window - $0 > 0 } == true
    }
  }

  /// The reason that the ledger gets when it applies.
  var reason: String {
    switch self {
    case .participant: "not_participant"
    case .deleted: DecisionReason.deleted.rawValue
    case .read: DecisionReason.alreadyRead.rawValue
    case .expired: DecisionReason.expired.rawValue
    case .sawItArrive, .viewing: DecisionReason.userViewing.rawValue
    case .optedOut: DecisionReason.optedOut.rawValue
    case .muted: DecisionReason.muted.rawValue
    case .mentionsOnly: DecisionReason.notMentioned.rawValue
    case .devices: DecisionReason.noTokens.rawValue
    case .quietHours: DecisionReason.quietHours.rawValue
    }
  }

  /// The first rule that applied; nil when the push could go.
  static func first(for known: HistoryEntry.Situation) -> SuppressionRule? {
    allCases.first { $0.applies(to: known) }
  }

  /// What was asked, up to the rule that decided.
  static func asked(of known: HistoryEntry.Situation) -> ArraySlice<SuppressionRule> {
    guard let last = allCases.firstIndex(where: { $0.applies(to: known) }) else { return allCases[...] }
    return allCases[...last]
  }
}

extension HistoryEntry.Situation {
  /// The age of the sign of presence that counts; one from the future does not.
  var signOfPresence: Int64? { [lastSeenAge, newestOtherReadAge].lazy.compactMap(\.self).first { $0 >= 0 } }
}
