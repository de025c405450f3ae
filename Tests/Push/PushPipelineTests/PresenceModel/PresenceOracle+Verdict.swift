/// What may become of one push, by what is true at the moment.
enum PresenceVerdict: Equatable {
  case push
  case skip(String)
  /// Until then, unless something is learnt.
  case hold(until: Int64)
  /// The window ends while the service looks: a push is right, and so is waiting.
  case either(until: Int64)
}

extension PresenceOracle {
  /// What is right for a recipient of a message, from the requirements' words alone.
  ///
  /// First what is certain, so that no clock is asked: gone, not theirs, read, seen since it came. Then whether there
  /// is a device at all. Then presence, which is only likely: the last look, or for who never looked the reading of the
  /// newest other message, unless they said since that they left.
  func verdict(on pair: PresencePair, during look: ClosedRange<Int64>) -> PresenceVerdict {
    guard let message = facts.messages[pair.message], !message.isDeleted else { return .skip("deleted") }
    let member = facts.members[pair.user]
    guard member.isIn else { return .skip("not_participant") }
    if message.readers.contains(pair.user) { return .skip("already_read") }
    if let seen = member.lastSeen, seen > message.arrivedAt { return .skip("user_viewing") }
    if member.devices == 0 { return .skip("no_tokens") }
    guard let sign = signOfPresence(of: pair) else { return .push }
    if let left = member.leftAt, left >= sign { return .push }
    return verdict(windowEnd: sign + window, during: look)
  }

  private func signOfPresence(of pair: PresencePair) -> Int64? {
    if let seen = facts.members[pair.user].lastSeen { return seen }
    guard let other = facts.newestOther(than: pair.message), other.readers.contains(pair.user) else { return nil }
    return other.touchedAt
  }

  private func verdict(windowEnd end: Int64, during look: ClosedRange<Int64>) -> PresenceVerdict {
    if end <= look.lowerBound { return .push }
    return end > look.upperBound ? .hold(until: end) : .either(until: end)
  }

  /// Whom an action is news about, among those whose push waits.
  func isReleased(_ pair: PresencePair, by action: HostAction) -> Bool {
    switch action {
    case .look(let user), .leaveScreen(let user), .leaveGroup(let user): user == pair.user
    case .read(let user, let messages, _): user == pair.user && messages.contains(pair.message)
    case .delete(let message): message == pair.message
    case .post, .edit, .join: false
    }
  }

  /// Whether nobody has to be told any more: the message is gone or read, or they saw it or left after it came.
  func isMoot(_ pair: PresencePair) -> Bool {
    guard let message = facts.messages[pair.message], !message.isDeleted else { return true }
    let member = facts.members[pair.user]
    let gone = [member.lookedLast, member.leftGroupLast].compactMap(\.self)
    return message.readers.contains(pair.user) || gone.contains { $0 > message.arrivedAt }
  }
}
