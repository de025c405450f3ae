// Entries as the ledger's JSON has them. What is read is bounded, so that moments and ages can be added.
package import PushRules

/// One claim of a push to one recipient: what was known, what was decided, and the result.
///
/// The ledger keeps a list of them for each of its rows, the oldest first, as JSON objects whose keys are the words below.
/// What is false, zero or unknown is left out. It holds no text, no name and no whole address.
package struct HistoryEntry: Equatable, Sendable {
  /// How many the ledger keeps of one push: the first half of them stay, and the newest.
  package static let keptMax = 40

  /// How many attempts the ledger keeps of one claim, the first ones: twice the devices that a user has by default.
  package static let attemptsKeptMax = 20

  /// After so many bytes of an entry no more attempts are written: an ordinary one has 160.
  static let keptBytesMax = 4096

  /// The number of the claim, from 1. A number that is missing from the list was a claim without a record: its process
  /// died, or its lease ran out.
  package let claim: Int

  /// When the claim was made, by the database's clock; microseconds since 1970.
  package let claimedAt: Int64

  /// The process that claimed; a row of `tacet.instances`.
  package let instance: String

  /// What made the service look: `notify`, `webhook`, `poll`, `start`, `due` or `neighbour`.
  package let wokenBy: String

  /// What ended the hold before its time: `read`, `seen`, `left`, `removed`, `deleted`, `preferences`, `review` or
  /// `host`; nil when its time had come, or nothing was held.
  package let releasedBy: String?

  /// When that was, by the database's clock; microseconds since 1970. Nil when nothing did.
  package let releasedAt: Int64?

  /// From the wake-up to the claim's answer; microseconds.
  package let wokenMicroseconds: Int64

  /// From the claim's date to the decision; microseconds.
  package let decidedMicroseconds: Int64

  package let situation: Situation

  package let decision: OutcomeDecision

  /// Why; nil for a plain success.
  package let reason: String?

  /// When to look again, in microseconds from the claim on; nil when nothing remains.
  package let dueMicroseconds: Int64?

  /// What remains: `held`, `retryable` or `waiting`; nil when nothing does.
  package let remaining: String?

  /// Attempts at devices, in the order in which they ended.
  package let attempts: [Attempt]

  /// Attempts that came after those and were not kept.
  package var attemptsLeftOut = 0

  /// What it did in its burst; nil when it was not asked.
  package var fold: Fold?

  /// What a message did in its burst.
  package struct Fold: Equatable, Sendable {
    package let sounds: Bool
    /// Messages of the burst besides the one shown.
    package let more: Int
    /// The ``PushKinds/HostID/shortMark`` of the message that sounded.
    package let burst: String

    package init(sounds: Bool, more: Int, burst: String) {
      self.sounds = sounds
      self.more = more
      self.burst = burst
    }
  }

  /// What the rules looked at: the members of `RecipientSituation`, ages in microseconds, and the limits of that time.
  package struct Situation: Equatable, Sendable {
    package var isParticipant = true
    /// Since the event was committed.
    package var messageAge: Int64 = 0
    /// The part of that for which the push was held on purpose.
    package var heldFor: Int64 = 0
    /// Whether the event or its surface was gone.
    package var isDeleted = false
    package var isCancelled = false
    /// Whether its cap group allowed no more pushes on the user's day.
    package var isCapped = false
    /// The life of the push; nil for ``timeToLive``.
    package var life: Int64?
    package var hasRead = false
    /// Since the client last reported looking; nil for never.
    package var lastSeenAge: Int64?
    package var sawAfterMessage = false
    /// Whether the client had reported leaving since.
    package var hasLeft = false
    /// Since the newest other message was touched, if the user had read it.
    package var newestOtherReadAge: Int64?
    package var isOptedOut = false
    package var isMuted = false
    package var wantsMentionsOnly = false
    package var isMentioned = false
    /// Until quiet hours ended; nil outside them.
    package var quietHoursRemaining: Int64?
    /// What the user wanted of pushes in quiet hours: `hold` or `drop`; nil outside them.
    package var quietHoursPolicy: String?
    /// Devices that the push could go to.
    package var deviceCount = 0
    /// The suppression window.
    package var window: Int64 = 0
    package var timeToLive: Int64 = 0
  }

  /// One attempt at one device, or the reason why it was not made.
  package struct Attempt: Equatable, Sendable {
    /// The first eight bytes of the target's mark.
    package let device: String
    /// The route that it took, as lanes are named; nil when unknown.
    package let route: String?
    /// When it ended, in microseconds from the claim's date on.
    package let endedMicroseconds: Int64
    /// The service's status; nil when no answer came or nothing was sent.
    package let status: Int?
    /// The service's reason, or what the connection did.
    package let reason: String?
    /// What the push is called at the service, such as the `apns-id`; nil when nothing was sent.
    package let identifier: String?
    /// What was kept back of the push: `sender`, `none`, `sealed` or `no_key`; nil for nothing.
    package let content: String?
    /// What it means for the push and its device: `accepted`, `dropped`, `refused`, `postponed`, `waiting`,
    /// `elsewhere` when the other environment was asked next, `impossible` when that said nothing about the device, or
    /// `shadow` when the push was built and its kind is not sent.
    package let verdict: String
    /// The locale of the words; nil for those of the event itself.
    package let locale: String?
    /// The locale that the device asked for, where that is another one.
    package let askedLocale: String?

    /// Notes an attempt; of the mark its beginning is kept.
    package init(
      mark: String, route: String?, endedMicroseconds: Int64, status: Int? = nil, reason: String? = nil,
      identifier: String? = nil, content: String? = nil, verdict: String, locale: String? = nil,
      askedLocale: String? = nil
    ) {
      device = String(decoding: mark.utf8.prefix(8), as: UTF8.self)
      self.route = route
      self.endedMicroseconds = endedMicroseconds
      self.status = status
      self.reason = reason
      self.identifier = identifier
      self.content = content
      self.verdict = verdict
      self.locale = locale
      self.askedLocale = askedLocale
    }
  }
}

/// Who decides, and by which limits.
package struct Decider: Equatable, Sendable {
  /// The process, as `tacet.instances` has it; some letters and digits.
  package let instance: String

  package let policy: SuppressionPolicy

  package init(instance: String = "", policy: SuppressionPolicy = SuppressionPolicy()) {
    self.instance = instance
    self.policy = policy
  }
}

extension HistoryEntry {
  /// What the ledger keeps of a claim; nil when nothing is known of it but its outcome.
  init?(_ outcome: RecipientOutcome, of decided: DecidedEvent) {
    guard let recipient = outcome.recipient else { return nil }
    self.init(
      claim: decided.event.attempts,
      claimedAt: decided.event.claimedAt,
      instance: decided.decider.instance,
      wokenBy: decided.wokenBy,
      releasedBy: recipient.releasedBy,
      releasedAt: recipient.releasedAt,
      wokenMicroseconds: outcome.wokenMicroseconds,
      decidedMicroseconds: outcome.decidedMicroseconds,
      situation: Situation(recipient, decided.decider.policy),
      decision: outcome.decision,
      reason: outcome.reason,
      dueMicroseconds: outcome.dueAfterClaim,
      remaining: outcome.remaining?.rawValue,
      attempts: outcome.deviceAttempts)
    fold = outcome.fold
  }

  var json: String {
    let attempts = attempts.prefix(Self.attemptsKeptMax)
    let bytes = JSONBytes.document(reservingBytes: 320 + 160 * attempts.count) { object in
      object.append(member: "claim", integer: Int64(claim))
      object.append(member: "at", integer: claimedAt)
      object.append(member: "by", present: instance)
      object.append(member: "woken_by", present: wokenBy)
      object.append(member: "released_by", text: releasedBy)
      object.append(member: "released_at", integer: releasedAt)
      object.append(member: "woken_us", integer: wokenMicroseconds)
      object.append(member: "decided_us", integer: decidedMicroseconds)
      object.append(member: "known") { situation.write(to: &$0) }
      object.append(member: "decision", present: decision.rawValue)
      object.append(member: "reason", text: reason)
      object.append(member: "due_us", integer: dueMicroseconds)
      object.append(member: "remaining", text: remaining)
      if let fold { object.append(member: "fold") { fold.write(to: &$0) } }
      guard !attempts.isEmpty else { return }
      object.append(name: "attempts")
      object.append(literal: "[")
      var kept = 0
      for attempt in attempts where object.bytes.count < Self.keptBytesMax {
        attempt.write(to: &object)
        kept += 1
      }
      object.append(literal: "]")
      if kept < self.attempts.count {
        object.append(member: "attempts_left_out", integer: Int64(self.attempts.count - kept))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension HistoryEntry.Fold {
  fileprivate func write(to object: inout JSONBytes) {
    object.append(member: "sound", truth: sounds)
    if more != 0 { object.append(member: "more", integer: Int64(more)) }
    object.append(member: "burst", present: burst)
  }
}

extension HistoryEntry.Situation {
  fileprivate init(_ recipient: PushRecipient, _ policy: SuppressionPolicy) {
    let known = recipient.situation
    isParticipant = recipient.isParticipant
    messageAge = known.messageAge.wholeMicroseconds
    heldFor = known.heldFor.wholeMicroseconds
    isDeleted = known.isDeleted
    isCancelled = known.isCancelled
    isCapped = known.isCapped
    life = known.life?.wholeMicroseconds
    hasRead = known.hasRead
    lastSeenAge = known.lastSeenAge?.wholeMicroseconds
    sawAfterMessage = known.sawAfterMessage
    hasLeft = known.hasLeft
    newestOtherReadAge = known.newestOtherReadAge?.wholeMicroseconds
    isOptedOut = known.isOptedOut
    isMuted = known.isMuted
    wantsMentionsOnly = known.wantsMentionsOnly
    isMentioned = known.isMentioned
    quietHoursRemaining = known.quietHoursRemaining?.wholeMicroseconds
    quietHoursPolicy = known.quietHoursRemaining == nil ? nil : known.quietHoursPolicy.rawValue
    deviceCount = known.deviceCount
    window = policy.window.wholeMicroseconds
    timeToLive = policy.timeToLive.wholeMicroseconds
  }

  fileprivate func write(to object: inout JSONBytes) {
    if !isParticipant { object.append(member: "participant", truth: false) }
    object.append(member: "message_us", integer: messageAge)
    if heldFor != 0 { object.append(member: "held_us", integer: heldFor) }
    object.append(member: "deleted", ifTrue: isDeleted)
    object.append(member: "cancelled", ifTrue: isCancelled)
    object.append(member: "capped", ifTrue: isCapped)
    object.append(member: "life_us", integer: life)
    object.append(member: "read", ifTrue: hasRead)
    object.append(member: "seen_us", integer: lastSeenAge)
    object.append(member: "seen_after", ifTrue: sawAfterMessage)
    object.append(member: "left", ifTrue: hasLeft)
    object.append(member: "other_read_us", integer: newestOtherReadAge)
    object.append(member: "opted_out", ifTrue: isOptedOut)
    object.append(member: "muted", ifTrue: isMuted)
    object.append(member: "mentions_only", ifTrue: wantsMentionsOnly)
    object.append(member: "mentioned", ifTrue: isMentioned)
    object.append(member: "quiet_us", integer: quietHoursRemaining)
    object.append(member: "quiet_policy", text: quietHoursPolicy)
    object.append(member: "devices", integer: Int64(deviceCount))
    object.append(member: "window_us", integer: window)
    object.append(member: "ttl_us", integer: timeToLive)
  }
}

extension HistoryEntry.Attempt {
  fileprivate func write(to json: inout JSONBytes) {
    json.appendComma()
    json.append(literal: "{")
    json.append(member: "device", present: device)
    json.append(member: "route", text: route)
    json.append(member: "ended_us", integer: endedMicroseconds)
    json.append(member: "status", integer: status.map(Int64.init))
    json.append(member: "reason", text: reason)
    json.append(member: "apns_id", text: identifier)
    json.append(member: "content", text: content)
    json.append(member: "verdict", present: verdict)
    json.append(member: "locale", text: locale)
    json.append(member: "asked", text: askedLocale)
    json.append(literal: "}")
  }
}

extension JSONBytes {
  /// A text, also when it is empty.
  fileprivate mutating func append(member name: StaticString, present text: String) {
    append(name: name)
    append(string: text)
  }

  fileprivate mutating func append(member name: StaticString, truth: Bool) {
    append(name: name)
    append(literal: truth ? "true" : "false")
  }

  fileprivate mutating func append(member name: StaticString, ifTrue truth: Bool) {
    if truth { append(member: name, truth: true) }
  }
}

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
