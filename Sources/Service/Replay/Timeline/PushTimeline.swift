internal import PushKinds
internal import PushRules
internal import PushStore

/// The looks at one push, and how it ends by given rules.
///
/// A claim is a look: the ledger has what was known then. A push that goes out or is skipped has one. A hold ends at a later
/// look, when its time is over or something was learnt. Rules are replayed from the first look on:
///
/// - They send or skip: that is the end. If APNs put the push off then, as it did, the next look follows.
/// - They hold until a moment that the recorded hold did not outlast, or until the recorded release: the next look is the
///   recorded one. Looking at a push more often than necessary changes nothing, because rules only ask for facts.
/// - They hold for less time: they look at the end of that hold. Until something releases a recorded hold nothing has changed, so
///   the facts are those of the look before, aged; see `PushTimeline+Gaps.swift`.
/// - Folding is no rule about whether a push goes out: a message that waits to update its burst's notification, or that a newer one
///   has folded, is one that the rules let go.
/// - They hold beyond the last look: the rest is ``ReplayedOutcome/open(from:reason:)``.
struct PushTimeline {
  /// More than any recorded push needs: each look between two claims ends later than the one before.
  private static let looksBetweenMax = 16

  /// Reasons of pushes that the rules let go: messages that wait to update the notification of their burst, those that a newer one's
  /// counts, and what a shadow kept back.
  private static let letGo: Set = [
    DecisionReason.folding.rawValue, DecisionReason.folded.rawValue, ShadowedKinds.reason,
  ]

  let entries: [HistoryEntry]
  let looks: [ReplayLook]
  /// Whether it still waited when the ledger was read, and when that was.
  let isHeld: Bool
  let askedAt: Int64

  /// - Parameter push: with a history of at least one entry.
  init(_ push: RecordedPush) {
    entries = push.history ?? []
    looks = entries.map(ReplayLook.init)
    isHeld = push.decision == .held
    askedAt = push.askedAt
  }

  /// As the ledger has it.
  var recorded: ReplayedOutcome {
    var hold: String?
    for place in entries.indices {
      switch recordedVerdict(place) {
      case .notRecorded: return .notRecorded
      case .skip(let reason): return .skipped(reason: reason)
      case .send: if !isTriedAgain(place) { return .pushed(at: looks[place].at, after: hold) }
      case .hold(let until, let reason):
        if place == entries.count - 1 { return .held(until: until, reason: reason) }
        hold = reason
      }
    }
    return .notRecorded
  }

  /// Whether the rules of then, asked again, say what is recorded at every look.
  var isConsistent: Bool {
    let unchanged = RuleChange()
    for place in entries.indices {
      guard unchanged.verdict(on: looks[place]) == recordedVerdict(place) else { return false }
      // A device that has the push keeps it sent, whatever is learnt later.
      if entries[place].decision == .sent { return true }
    }
    return true
  }

  /// As it ends by other rules.
  func replayed(by change: RuleChange) -> ReplayedOutcome {
    guard var look = looks.first else { return .notRecorded }
    // The claim that the look is, or the one before it.
    var place = 0
    var hold: String?
    // Held by the changed rules while it was not by those of then.
    var heldBesides = Duration.zero
    for _ in 0..<looks.count + Self.looksBetweenMax {
      look.known.heldFor += heldBesides
      switch change.verdict(on: look) {
      case .notRecorded: return .notRecorded
      case .skip(let reason): return .skipped(reason: reason)
      case .send:
        guard look.at == looks[place].at, recordedVerdict(place) == .send, isTriedAgain(place),
          change.foldWindow != .zero || !waitsToFold(place)
        else {
          return .pushed(at: look.at, after: hold)
        }
        place += 1
        look = looks[place]
      case .hold(let until, let reason):
        hold = reason
        switch next(after: place, until: until) {
        case .claim:
          if !wasHeld(place) { heldBesides += .microseconds(looks[place + 1].at - looks[place].at) }
          place += 1
          look = looks[place]
        case .between(let facts): look = facts
        case .stillHeld: return .held(until: until, reason: reason)
        case .notKnown: return .open(from: until, reason: reason)
        }
      }
    }
    return .notRecorded
  }

  /// What the rules said at a claim, from what was done.
  func recordedVerdict(_ place: Int) -> ReplayVerdict {
    let entry = entries[place]
    let reason = Self.known(entry.reason)
    if let reason = entry.reason, Self.letGo.contains(reason) { return .send }
    switch entry.decision {
    case .sent: return .send
    case .skipped: return .skip(reason: reason)
    case .held:
      guard wasHeld(place) else { return .send }
      return .hold(until: entry.claimedAt + (entry.dueMicroseconds ?? 0), reason: reason)
    case .failed:
      // A push that could not be sent until it was too old has failed for its last reason.
      let verdict = RuleChange().verdict(on: looks[place])
      return verdict == .skip(reason: DecisionReason.expired.rawValue) ? verdict : .send
    }
  }

  /// Whether it waited because rules had said so.
  func wasHeld(_ place: Int) -> Bool { entries[place].remaining == "held" && !waitsToFold(place) }

  private func waitsToFold(_ place: Int) -> Bool { entries[place].reason == DecisionReason.folding.rawValue }

  /// Whether a service or its burst put it off, and another claim followed.
  private func isTriedAgain(_ place: Int) -> Bool {
    let entry = entries[place]
    return entry.decision == .held && !wasHeld(place) && place + 1 < entries.count
  }

  /// The ledger's text, as far as it is a reason of ours: a report has a row for each.
  private static func known(_ reason: String?) -> String {
    guard let reason, reason == "not_participant" || DecisionReason(rawValue: reason) != nil else { return "unknown" }
    return reason
  }
}
