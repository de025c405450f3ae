// Entries as the ledger's JSON has them. What is read is bounded, so that moments and ages can be added.
extension HistoryEntry: Decodable {
  enum CodingKeys: String, CodingKey {
    case claim
    case claimedAt = "at"
    case instance = "by"
    case wokenBy = "woken_by"
    case releasedBy = "released_by"
    case releasedAt = "released_at"
    case wokenMicroseconds = "woken_us"
    case decidedMicroseconds = "decided_us"
    case situation = "known"
    case decision, reason
    case dueMicroseconds = "due_us"
    case remaining, attempts
    case attemptsLeftOut = "attempts_left_out"
    case fold
  }

  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    // As the column of attempts: numbers of claims are compared and counted.
    claim = min(max(0, try members.decode(Int.self, forKey: .claim)), Int(Int32.max))
    claimedAt = try members.microseconds(.claimedAt) ?? 0
    instance = try members.decode(String.self, forKey: .instance)
    wokenBy = try members.decode(String.self, forKey: .wokenBy)
    releasedBy = try members.decodeIfPresent(String.self, forKey: .releasedBy)
    releasedAt = try members.microseconds(.releasedAt)
    wokenMicroseconds = try members.microseconds(.wokenMicroseconds) ?? 0
    decidedMicroseconds = try members.microseconds(.decidedMicroseconds) ?? 0
    situation = try members.decode(Situation.self, forKey: .situation)
    decision = try members.decode(OutcomeDecision.self, forKey: .decision)
    reason = try members.decodeIfPresent(String.self, forKey: .reason)
    dueMicroseconds = try members.microseconds(.dueMicroseconds)
    remaining = try members.decodeIfPresent(String.self, forKey: .remaining)
    attempts = try members.decodeIfPresent([Attempt].self, forKey: .attempts) ?? []
    attemptsLeftOut = try members.decodeIfPresent(Int.self, forKey: .attemptsLeftOut) ?? 0
    fold = try members.decodeIfPresent(Fold.self, forKey: .fold)
  }
}

extension HistoryEntry.Fold: Decodable {
  enum CodingKeys: String, CodingKey {
    case sounds = "sound"
    case more, burst
  }

  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    sounds = try members.decode(Bool.self, forKey: .sounds)
    more = try members.decodeIfPresent(Int.self, forKey: .more) ?? 0
    burst = try members.decode(String.self, forKey: .burst)
  }
}

extension HistoryEntry.Situation: Decodable {
  enum CodingKeys: String, CodingKey {
    case isParticipant = "participant"
    case messageAge = "message_us"
    case heldFor = "held_us"
    case isDeleted = "deleted"
    case isCancelled = "cancelled"
    case isCapped = "capped"
    case life = "life_us"
    case hasRead = "read"
    case lastSeenAge = "seen_us"
    case sawAfterMessage = "seen_after"
    case hasLeft = "left"
    case newestOtherReadAge = "other_read_us"
    case isOptedOut = "opted_out"
    case isMuted = "muted"
    case wantsMentionsOnly = "mentions_only"
    case isMentioned = "mentioned"
    case quietHoursRemaining = "quiet_us"
    case quietHoursPolicy = "quiet_policy"
    case deviceCount = "devices"
    case window = "window_us"
    case timeToLive = "ttl_us"
  }

  /// Reads what the ledger keeps; what is left out has its usual value.
  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    func flag(_ key: CodingKeys) throws -> Bool { try members.decodeIfPresent(Bool.self, forKey: key) ?? false }
    func number(_ key: CodingKeys) throws -> Int64? { try members.microseconds(key) }
    self.init()
    isParticipant = try members.decodeIfPresent(Bool.self, forKey: .isParticipant) ?? true
    messageAge = try number(.messageAge) ?? 0
    heldFor = try number(.heldFor) ?? 0
    isDeleted = try flag(.isDeleted)
    isCancelled = try flag(.isCancelled)
    isCapped = try flag(.isCapped)
    life = try number(.life)
    hasRead = try flag(.hasRead)
    lastSeenAge = try number(.lastSeenAge)
    sawAfterMessage = try flag(.sawAfterMessage)
    hasLeft = try flag(.hasLeft)
    newestOtherReadAge = try number(.newestOtherReadAge)
    isOptedOut = try flag(.isOptedOut)
    isMuted = try flag(.isMuted)
    wantsMentionsOnly = try flag(.wantsMentionsOnly)
    isMentioned = try flag(.isMentioned)
    quietHoursRemaining = try number(.quietHoursRemaining)
    quietHoursPolicy = try members.decodeIfPresent(String.self, forKey: .quietHoursPolicy)
    deviceCount = try members.decodeIfPresent(Int.self, forKey: .deviceCount) ?? 0
    window = try number(.window) ?? 0
    timeToLive = try number(.timeToLive) ?? 0
  }
}

extension HistoryEntry.Attempt: Decodable {
  enum CodingKeys: String, CodingKey {
    case device, route
    case endedMicroseconds = "ended_us"
    case status, reason
    case identifier = "apns_id"
    case content, verdict, locale
    case askedLocale = "asked"
  }

  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    device = try members.decode(String.self, forKey: .device)
    route = try members.decodeIfPresent(String.self, forKey: .route)
    endedMicroseconds = try members.microseconds(.endedMicroseconds) ?? 0
    status = try members.decodeIfPresent(Int.self, forKey: .status)
    reason = try members.decodeIfPresent(String.self, forKey: .reason)
    identifier = try members.decodeIfPresent(String.self, forKey: .identifier)
    content = try members.decodeIfPresent(String.self, forKey: .content)
    verdict = try members.decode(String.self, forKey: .verdict)
    locale = try members.decodeIfPresent(String.self, forKey: .locale)
    askedLocale = try members.decodeIfPresent(String.self, forKey: .askedLocale)
  }
}

extension OutcomeDecision: Decodable {}

/// A history as far as it can be read: rows may be older than this program, or the host's own.
@propertyWrapper
package struct ReadableHistory: Decodable, Equatable, Sendable {
  private struct Element: Decodable {
    let entry: HistoryEntry?

    init(from decoder: any Decoder) { entry = try? HistoryEntry(from: decoder) }
  }

  package var wrappedValue: [HistoryEntry]

  package init(wrappedValue: [HistoryEntry]) {
    self.wrappedValue = wrappedValue
  }

  /// Leaves out what cannot be read; another document is an empty history.
  package init(from decoder: any Decoder) {
    wrappedValue = ((try? [Element](from: decoder)) ?? []).compactMap(\.entry)
  }
}

extension HistoryEntry {
  /// Within 73,000 years of 1970 or of nothing: a moment and an age can always be added.
  static func bounded(_ microseconds: Int64) -> Int64 { min(max(microseconds, -1 << 61), 1 << 61) }
}

extension KeyedDecodingContainer {
  fileprivate func microseconds(_ key: Key) throws -> Int64? {
    try decodeIfPresent(Int64.self, forKey: key).map(HistoryEntry.bounded)
  }
}
