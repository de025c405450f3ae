internal import PushRules
internal import PushStore

// Between claims, and behind the last one.
extension PushTimeline {
  /// What follows a hold.
  enum Next {
    /// The next claim.
    case claim
    /// A look at the end of the hold, with what was known then.
    case between(ReplayLook)
    /// No claim follows: the push was held when the ledger was read, and still would be.
    case stillHeld
    /// What was known at the end of the hold cannot be told.
    case notKnown
  }

  /// - Parameter until: when the hold ends if nothing releases it.
  func next(after place: Int, until: Int64) -> Next {
    guard place + 1 < entries.count else { return nextAfterLast(until: until) }
    guard until < recordedEnd(place) else { return .claim }
    return facts(at: until, after: place).map(Next.between) ?? .notKnown
  }

  private func nextAfterLast(until: Int64) -> Next {
    let last = entries.count - 1
    guard isHeld, case .hold(let recordedUntil, _) = recordedVerdict(last) else { return .notKnown }
    // Nothing had released the hold when the ledger was read. A shorter one has ended by then, as things were.
    guard until < min(recordedUntil, askedAt) else { return .stillHeld }
    return .between(looks[last].waiting(until: until))
  }

  /// When the recorded wait behind a claim ended: by what was learnt, or else by its time.
  private func recordedEnd(_ place: Int) -> Int64 {
    let next = entries[place + 1]
    guard wasHeld(place) else { return next.claimedAt }
    let due = entries[place].claimedAt + (entries[place].dueMicroseconds ?? 0)
    return min(next.releasedAt ?? due, next.claimedAt)
  }

  /// What was known at a moment between a claim and the next; nil where it cannot be told.
  private func facts(at moment: Int64, after place: Int) -> ReplayLook? {
    let (before, after) = (looks[place], looks[place + 1])
    var look = before.waiting(until: moment)
    // Times that the next claim knew, and that lie before the moment, were known at it.
    if let age = after.known.lastSeenAge, let sinceThen = Self.age(age, after, moment) {
      look.known.lastSeenAge = sinceThen
      look.known.sawAfterMessage = after.known.sawAfterMessage
    }
    if let age = after.known.newestOtherReadAge, let sinceThen = Self.age(age, after, moment) {
      look.known.newestOtherReadAge = sinceThen
    }
    // Quiet hours that began meanwhile began at a moment that is not recorded.
    if before.known.quietHoursRemaining == nil, after.known.quietHoursRemaining != nil { return nil }
    // A release comes with the first change of a fact, so nothing had changed before it.
    let isWatched = wasHeld(place) && entries[place + 1].releasedBy != nil
    return isWatched || before.hasSameFlags(as: after) ? look : nil
  }

  /// An age at the next claim as one at an earlier moment; nil if the sign came later.
  private static func age(_ age: Duration, _ claim: ReplayLook, _ moment: Int64) -> Duration? {
    let sinceThen = age - .microseconds(claim.at - moment)
    return sinceThen >= .zero ? sinceThen : nil
  }
}

extension ReplayLook {
  /// Whether all facts are the same that have no time of their own.
  fileprivate func hasSameFlags(as other: ReplayLook) -> Bool {
    func flags(_ look: ReplayLook) -> [Bool] {
      let known = look.known
      return [
        look.isParticipant, known.isDeleted, known.isCancelled, known.isCapped, known.hasRead, known.hasLeft,
        known.isOptedOut, known.isMuted, known.wantsMentionsOnly, known.deviceCount > 0,
      ]
    }
    return flags(self) == flags(other)
  }
}
