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

  /// Whether the conversation had another owner before, which may have sent it without a record.
  package var isTakenOver = false

  /// When the claim was made, by the database's clock; microseconds since 1970.
  package let claimedAt: Int64

  /// The process that claimed; a row of `tacet.instances`.
  package let instance: String

  /// What made the service look: `notify`, `webhook`, `poll`, `start` or `due`.
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
    /// The message that began the burst; nil for this one.
    package let burst: HostID?
    /// When the burst's window began, by the database's clock, microseconds since 1970; nil beside a burst.
    package let begunAt: Int64?

    package init(sounds: Bool, more: Int, burst: HostID? = nil, begunAt: Int64? = nil) {
      self.sounds = sounds
      self.more = more
      self.burst = burst
      self.begunAt = begunAt
    }
  }

  /// What the rules looked at, and the limits of that time.
  @dynamicMemberLookup
  package struct Situation: Equatable, Sendable {
    package var facts = RecipientSituation.nothingKnown
    package var policy = SuppressionPolicy()

    package subscript<Fact>(dynamicMember fact: WritableKeyPath<RecipientSituation, Fact>) -> Fact {
      get { facts[keyPath: fact] }
      set { facts[keyPath: fact] = newValue }
    }
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
    isTakenOver = decided.event.isTakenOver
    fold = outcome.fold
  }

  var json: String {
    let attempts = attempts.prefix(Self.attemptsKeptMax)
    let bytes = JSONBytes.document(reservingBytes: 320 + 160 * attempts.count) { object in
      object.append(member: "claim", integer: Int64(claim))
      object.append(member: "at", integer: claimedAt)
      object.append(member: "by", present: instance)
      object.append(member: "taken_over", ifTrue: isTakenOver)
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
    if let burst { object.append(member: "burst", present: burst.text) }
    object.append(member: "begun_us", integer: begunAt)
  }
}

/// Writes or reads the facts of a situation by their names in the ledger.
private protocol FactVisitor {
  associatedtype Failure: Error

  /// - Parameter usual: the value that is left out.
  mutating func flag(_ name: StaticString, _ fact: inout Bool, usually usual: Bool) throws(Failure)
  mutating func count(_ name: StaticString, _ fact: inout Int) throws(Failure)
  mutating func span(_ name: StaticString, _ fact: inout Duration?) throws(Failure)
  mutating func policy(_ name: StaticString, _ fact: inout QuietHoursPolicy?) throws(Failure)
}

extension FactVisitor {
  fileprivate mutating func flag(_ name: StaticString, _ fact: inout Bool) throws(Failure) {
    try flag(name, &fact, usually: false)
  }

  fileprivate mutating func span(
    _ name: StaticString, _ fact: inout Duration, leavesOutZero: Bool = false
  ) throws(Failure) {
    var span = leavesOutZero && fact == .zero ? nil : Duration?.some(fact)
    try self.span(name, &span)
    fact = span ?? .zero
  }
}

extension HistoryEntry.Situation {
  fileprivate init(_ recipient: PushRecipient, _ policy: SuppressionPolicy) {
    facts = recipient.situation
    self.policy = policy
  }

  /// Every fact with its name in the ledger, in microseconds where it is a time.
  fileprivate mutating func visit<Visitor: FactVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.flag("participant", &facts.isParticipant, usually: true)
    try visitor.span("message_us", &facts.messageAge)
    try visitor.span("held_us", &facts.heldFor, leavesOutZero: true)
    try visitor.flag("deleted", &facts.isDeleted)
    try visitor.flag("cancelled", &facts.isCancelled)
    try visitor.flag("capped", &facts.isCapped)
    try visitor.span("life_us", &facts.life)
    try visitor.flag("read", &facts.hasRead)
    try visitor.span("seen_us", &facts.lastSeenAge)
    try visitor.flag("seen_after", &facts.sawAfterMessage)
    try visitor.flag("left", &facts.hasLeft)
    try visitor.span("other_read_us", &facts.newestOtherReadAge)
    try visitor.flag("opted_out", &facts.isOptedOut)
    try visitor.flag("muted", &facts.isMuted)
    try visitor.flag("mentions_only", &facts.wantsMentionsOnly)
    try visitor.flag("mentioned", &facts.isMentioned)
    try visitor.span("quiet_us", &facts.quietHoursRemaining)
    var wish = facts.quietHoursRemaining == nil ? nil : QuietHoursPolicy?.some(facts.quietHoursPolicy)
    try visitor.policy("quiet_policy", &wish)
    facts.quietHoursPolicy = wish ?? .hold
    try visitor.count("devices", &facts.deviceCount)
    var (window, timeToLive) = (policy.window, policy.timeToLive)
    try visitor.span("window_us", &window)
    try visitor.span("ttl_us", &timeToLive)
    policy = SuppressionPolicy(window: max(.zero, window), timeToLive: max(.zero, timeToLive))
  }

  fileprivate func write(to object: inout JSONBytes) {
    var copy = self
    copy.visit(&object)
  }
}

extension JSONBytes: FactVisitor {
  fileprivate mutating func flag(_ name: StaticString, _ fact: inout Bool, usually usual: Bool) {
    if fact != usual { append(member: name, truth: fact) }
  }

  fileprivate mutating func count(_ name: StaticString, _ fact: inout Int) {
    append(member: name, integer: Int64(fact))
  }

  fileprivate mutating func span(_ name: StaticString, _ fact: inout Duration?) {
    append(member: name, integer: fact?.wholeMicroseconds)
  }

  fileprivate mutating func policy(_ name: StaticString, _ fact: inout QuietHoursPolicy?) {
    append(member: name, text: fact?.rawValue)
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
    case isTakenOver = "taken_over"
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
    isTakenOver = try members.decodeIfPresent(Bool.self, forKey: .isTakenOver) ?? false
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
    case begunAt = "begun_us"
  }

  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    sounds = try members.decode(Bool.self, forKey: .sounds)
    more = try members.decodeIfPresent(Int.self, forKey: .more) ?? 0
    burst = try members.decodeIfPresent(HostID.self, forKey: .burst)
    begunAt = try members.decodeIfPresent(Int64.self, forKey: .begunAt)
  }
}

extension HistoryEntry.Situation: Decodable {
  /// Reads what the ledger keeps; what is left out has its usual value.
  package init(from decoder: any Decoder) throws {
    policy = SuppressionPolicy(window: .zero, timeToLive: .zero)
    facts.deviceCount = 0
    var reader = FactReader(members: try decoder.container(keyedBy: FactReader.Name.self))
    try visit(&reader)
  }
}

private struct FactReader: FactVisitor {
  struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: StaticString) { stringValue = name.description }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  let members: KeyedDecodingContainer<Name>

  func flag(_ name: StaticString, _ fact: inout Bool, usually usual: Bool) throws {
    fact = try members.decodeIfPresent(Bool.self, forKey: Name(name)) ?? usual
  }

  func count(_ name: StaticString, _ fact: inout Int) throws {
    fact = try members.decodeIfPresent(Int.self, forKey: Name(name)) ?? fact
  }

  func span(_ name: StaticString, _ fact: inout Duration?) throws {
    fact = try members.microseconds(Name(name)).map { .microseconds($0) }
  }

  func policy(_ name: StaticString, _ fact: inout QuietHoursPolicy?) throws {
    fact = try members.decodeIfPresent(String.self, forKey: Name(name)).flatMap(QuietHoursPolicy.init)
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

  package init(wrappedValue: [HistoryEntry]) { self.wrappedValue = wrappedValue }

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
