internal import Explanations
internal import PushRules
internal import PushStore

/// What is known of a recipient at one moment, and the limits of that time.
struct ReplayLook: Equatable {
  /// Microseconds since 1970.
  var at: Int64
  var isParticipant = true
  var known: RecipientSituation
  var limits: SuppressionPolicy

  /// What a claim knew.
  init(_ entry: HistoryEntry) {
    at = entry.claimedAt
    isParticipant = entry.situation.isParticipant
    known = entry.situation.recipientSituation
    limits = entry.situation.policy
  }

  /// The same facts at a later moment, until which the push is held.
  func waiting(until moment: Int64) -> ReplayLook {
    let wait = Duration.microseconds(moment - at)
    var look = self
    look.at = moment
    look.known.messageAge += wait
    look.known.heldFor += wait
    look.known.lastSeenAge = known.lastSeenAge.map { $0 + wait }
    look.known.newestOtherReadAge = known.newestOtherReadAge.map { $0 + wait }
    look.known.quietHoursRemaining = known.quietHoursRemaining.flatMap { $0 > wait ? $0 - wait : nil }
    return look
  }
}

/// What rules say of a push at one moment.
enum ReplayVerdict: Equatable {
  case send
  /// Until a moment; microseconds since 1970.
  case hold(until: Int64, reason: String)
  case skip(reason: String)
  /// It depends on what was not recorded.
  case notRecorded
}

extension RuleChange {
  /// Decides as the gate of the service does.
  func verdict(on look: ReplayLook) -> ReplayVerdict {
    guard look.isParticipant || look.known.isDeleted else { return .skip(reason: "not_participant") }
    var known = look.known
    switch quietHours {
    case nil: break
    case .off: known.quietHoursRemaining = nil
    case .daily(let hours):
      known.quietHoursRemaining = hours.remaining(at: look.at).map { .microseconds($0) }
      known.quietHoursPolicy = hours.policy
    }
    let limits = self.limits(look.limits)
    let plain = ReplayVerdict(limits.decision(for: known), at: look.at)
    guard mentionBreaksMute == true || mentionBreaksQuietHours == true else { return plain }
    let mentioned = ReplayVerdict(limits.decision(for: known.mentioned(by: self)), at: look.at)
    if plain == mentioned || known.wantsMentionsOnly || known.isMentioned {
      return known.isMentioned ? mentioned : plain
    }
    // Whether a message mentions its recipient is asked of few: of those who want mentions only.
    return .notRecorded
  }
}

extension RecipientSituation {
  /// As the rules are to see it when the message mentions the recipient.
  fileprivate func mentioned(by change: RuleChange) -> RecipientSituation {
    var known = self
    if change.mentionBreaksMute == true { known.isMuted = false }
    if change.mentionBreaksQuietHours == true { known.quietHoursRemaining = nil }
    return known
  }
}

extension ReplayVerdict {
  fileprivate init(_ decision: PushDecision, at moment: Int64) {
    switch decision {
    case .send: self = .send
    case .skip(let reason): self = .skip(reason: reason.rawValue)
    case .hold(let wait, let reason):
      self = .hold(until: moment + wait.wholeMicroseconds, reason: reason.rawValue)
    }
  }
}
