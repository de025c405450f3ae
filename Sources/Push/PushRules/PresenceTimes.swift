/// What the host's tables say of a recipient's presence; each in microseconds since 1970, nil where it is unknown.
///
/// All are compared with the moment of the claim, by the database's clock, so no two machines' clocks are ever compared. A time
/// after that moment was written by another clock: it proves nothing.
package struct PresenceTimes: Equatable, Sendable {
  /// When the recipient's client last reported looking at the conversation.
  package var lastSeen: Int64?
  /// When the client last reported leaving it.
  package var left: Int64?
  /// When the newest other message of the conversation was touched, if the recipient has read it.
  package var readOther: Int64?
  /// The date of the message itself.
  package var created: Int64?

  package init(lastSeen: Int64? = nil, left: Int64? = nil, readOther: Int64? = nil, created: Int64? = nil) {
    self.lastSeen = lastSeen
    self.left = left
    self.readOther = readOther
    self.created = created
  }
}

extension RecipientSituation {
  /// Computes what the rules ask of presence.
  /// - Parameters:
  ///   - enqueuedAt: when the message was committed. moment: of the claim. Both in microseconds since 1970.
  package mutating func set(_ times: PresenceTimes, enqueuedAt: Int64, moment: Int64) {
    lastSeenAge = times.lastSeen.map { .microseconds(moment - $0) }
    newestOtherReadAge = times.readOther.map { .microseconds(moment - $0) }
    let (lastSeen, left, readOther) = (
      times.lastSeen?.known(at: moment), times.left?.known(at: moment), times.readOther?.known(at: moment)
    )
    // A date of the message that lies in the future says nothing about when it came.
    let arrival = max(enqueuedAt, times.created?.known(at: moment) ?? enqueuedAt)
    sawAfterMessage = lastSeen.map { $0 > arrival } ?? false
    // Since the last sign of presence. Having read the newest other message stands in for looks that are not reported.
    hasLeft = if let left, let sign = lastSeen ?? readOther { left >= sign } else { false }
  }
}

extension Int64 {
  fileprivate func known(at moment: Int64) -> Int64? { self <= moment ? self : nil }
}
