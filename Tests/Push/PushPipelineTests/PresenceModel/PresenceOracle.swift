import Channels
import FoundationEssentials
import Postgres
import PushRules
import TestIDs

/// A message and somebody who is to hear of it.
struct PresencePair: Hashable, Sendable {
  let message: Int
  let user: Int
}

/// What the ledger says of a pair.
struct LedgerLine: Equatable {
  let decision: String
  let reason: String?
}

/// What a look of the service was seen to do in one conversation.
struct ObservedLook {
  /// Virtual microseconds, from before the service was woken until it had nothing left to do.
  let span: ClosedRange<Int64>
  /// The devices, by their numbers, that a pair's push went to.
  var pushed: [PresencePair: [Int]] = [:]
  /// Written meanwhile.
  var ledger: [PresencePair: LedgerLine] = [:]
}

/// Says of one conversation what must become of every push and when, and compares.
///
/// Written from the requirements alone; it knows neither the service's rules nor its SQL.
struct PresenceOracle {
  let window: Int64
  private(set) var facts: TimelineFacts
  private(set) var tally = PresenceTally()
  private(set) var violations: [PresenceViolation] = []
  private var undecided: [Int] = []
  /// Held, and until when at the latest.
  private var held: [PresencePair: Int64] = [:]
  private var released: Set<PresencePair> = []
  private var deliveries: [PresencePair: [Int]] = [:]
  private var ledger: [PresencePair: LedgerLine] = [:]
  private var expected: [PresencePair: LedgerLine] = [:]

  init(_ members: [PlannedMember], window: Int64) {
    facts = TimelineFacts(members)
    self.window = window
  }

  mutating func apply(_ action: HostAction, at time: Int64) {
    tally.actions += 1
    if case .post(let message, _) = action {
      tally.messages += 1
      undecided.append(message)
    }
    facts.apply(action, at: time)
    released.formUnion(held.keys.filter { isReleased($0, by: action) })
  }

  /// Compares what a look did with what it had to do.
  mutating func judge(_ look: ObservedLook) {
    note(look)
    let waiting = held.keys.sorted(by: inOrder)
    let fresh = freshPairs()
    for pair in fresh { judge(pair, look, isFresh: true) }
    for pair in waiting { judge(pair, look, isFresh: false) }
    released = []
    judgeOthers(look, than: Set(fresh + waiting))
  }

  /// Pairs that are settled, or never were any: nothing may happen to them but the push that should have come earlier.
  private mutating func judgeOthers(_ look: ObservedLook, than open: Set<PresencePair>) {
    for pair in look.pushed.keys where !open.contains(pair) && expected[pair] != .sent {
      report(1, pair, look, "pushed, but \(show(expected[pair]))")
    }
    for (pair, line) in look.ledger where !open.contains(pair) && line != expected[pair] {
      report(5, pair, look, "\(line) instead of \(show(expected[pair]))")
    }
  }

  /// Once nothing is held and nobody has been active for two windows.
  mutating func judgeEnd(_ look: ObservedLook) {
    for pair in Set(expected.keys).union(look.ledger.keys) where look.ledger[pair] != expected[pair] {
      report(5, pair, look, "in the end \(show(look.ledger[pair])) instead of \(show(expected[pair]))")
    }
    for pair in expected.keys where facts.members[pair.user].devices > 0 && deliveries[pair] == nil && !isMoot(pair) {
      report(2, pair, look, "never pushed")
    }
  }

  private mutating func note(_ look: ObservedLook) {
    for (pair, devices) in look.pushed {
      tally.pushes += devices.count
      deliveries[pair, default: []] += devices
      if Set(deliveries[pair] ?? []).count < deliveries[pair]?.count ?? 0 { report(3, pair, look, "pushed twice") }
    }
    ledger.merge(look.ledger) { $1 }
  }

  /// Everybody in the group but the author, when the service first hears of the message.
  private mutating func freshPairs() -> [PresencePair] {
    defer { undecided = [] }
    return undecided.flatMap { number -> [PresencePair] in
      guard let message = facts.messages[number], !message.isDeleted else { return [] }
      let users = facts.members.indices.filter { facts.members[$0].isIn && $0 != message.author }
      return users.map { PresencePair(message: number, user: $0) }
    }
  }

  private mutating func judge(_ pair: PresencePair, _ look: ObservedLook, isFresh: Bool) {
    let verdict = verdict(on: pair, during: look.span)
    let isPushed = look.pushed[pair] != nil
    let isDue = isFresh || released.contains(pair) || held[pair, default: .max] <= look.span.lowerBound
    tally.pairs += isFresh ? 1 : 0
    switch verdict {
    case .push:
      if isDue, !isPushed { report(4, pair, look, "not pushed at once") }
      settle(pair, isPushed || isDue ? .sent : .held, .min)
    case .skip(let reason):
      settle(pair, LedgerLine(decision: "skipped", reason: reason))
    case .hold(let end):
      settle(pair, .held, end)
    case .either(let end):
      tally.unclear += 1
      settle(pair, isPushed ? .sent : .held, end)
    }
    if isPushed { judgePush(pair, look, verdict) }
    if ledger[pair] != expected[pair] {
      report(5, pair, look, "\(show(ledger[pair])) instead of \(show(expected[pair]))")
    }
  }

  private mutating func judgePush(_ pair: PresencePair, _ look: ObservedLook, _ verdict: PresenceVerdict) {
    switch verdict {
    case .skip, .hold: report(1, pair, look, "pushed, but \(verdict)")
    case .push, .either:
      let devices = Array(0..<facts.members[pair.user].devices)
      if look.pushed[pair]?.sorted() != devices { report(4, pair, look, "not on every device") }
    }
  }

  /// A hold ends no later than the latest moment that any look up to then could have given it.
  private mutating func settle(_ pair: PresencePair, _ line: LedgerLine, _ end: Int64 = .min) {
    tally.holds += line == .held && expected[pair] == nil ? 1 : 0
    expected[pair] = line
    held[pair] = line == .held ? max(end, held[pair] ?? .min) : nil
  }

  private mutating func report(_ property: Int, _ pair: PresencePair, _ look: ObservedLook, _ text: String) {
    guard !violations.contains(where: { $0.property == property && $0.pair == pair }) else { return }
    violations.append(
      PresenceViolation(property: property, pair: pair, time: look.span.lowerBound, text: text))
    tally.violations[property, default: 0] += 1
  }

  private func inOrder(_ one: PresencePair, _ other: PresencePair) -> Bool {
    (one.message, one.user) < (other.message, other.user)
  }
}

extension LedgerLine: CustomStringConvertible {
  static let sent = LedgerLine(decision: "sent", reason: nil)
  static let held = LedgerLine(decision: "held", reason: "user_viewing")

  var description: String { reason.map { "\(decision) \($0)" } ?? decision }
}

private func show(_ line: LedgerLine?) -> String { line?.description ?? "no line" }

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

/// Finds the timeline, message and user that ids in the database and tokens of pushes stand for.
struct PresenceIndex {
  struct Place {
    let timeline: Int
    let pair: PresencePair
    let device: Int
  }

  private var messages: [String: (timeline: Int, number: Int)] = [:]
  private var users: [String: Int] = [:]
  private var devices: [String: (user: Int, number: Int)] = [:]

  init(_ timelines: [PresenceTimeline]) {
    for (place, timeline) in timelines.enumerated() {
      for (number, id) in timeline.messages { messages[id] = (place, number) }
      for (user, id) in timeline.users.enumerated() {
        users[id] = user
        for (number, token) in timeline.tokens(of: user).enumerated() { devices[token] = (user, number) }
      }
    }
  }

  /// Nil when it is about a message or a device that was not made by a timeline.
  func place(of push: ScriptedChannel.Sent) -> Place? {
    let message = push.request.collapseIdentifier.flatMap { messages[$0.text] }
    guard let message, let device = devices[push.token] else { return nil }
    return Place(
      timeline: message.timeline, pair: PresencePair(message: message.number, user: device.user),
      device: device.number)
  }

  /// Nil when no timeline made the message or the user.
  func place(of row: PostgresRow) throws -> Place? {
    let (subject, user): (HostID, HostID) = (try row.decode("subject_id"), try row.decode("user_id"))
    guard let message = messages[subject.text], let number = users[user.text] else { return nil }
    return Place(
      timeline: message.timeline, pair: PresencePair(message: message.number, user: number), device: 0)
  }
}

/// What came of a run of the model.
struct PresenceReport: Sendable {
  var tally = PresenceTally()
  /// Of some timelines in which a property did not hold, the gravest first.
  private(set) var stories: [PresenceStory] = []
  /// Errors that the triggers have swallowed.
  var troubles: [String] = []

  init() {}

  init(_ timelines: [PresenceTimeline], at times: [Int64], troubles: [String]) {
    tally.timelines = timelines.count
    for timeline in timelines {
      tally += timeline.oracle.tally
      guard let gravest = timeline.oracle.violations.map(\.property).min() else { continue }
      stories.append(PresenceStory(property: gravest, plan: timeline.plan, times: times, text: timeline.story))
    }
    stories = Self.gravest(of: stories)
    self.troubles = troubles
  }

  static func += (sum: inout PresenceReport, other: PresenceReport) {
    sum.tally += other.tally
    sum.stories = gravest(of: sum.stories + other.stories)
    sum.troubles = Array((sum.troubles + other.troubles).prefix(5))
  }

  /// Enough to read at once.
  private static func gravest(of stories: [PresenceStory]) -> [PresenceStory] {
    Array(stories.sorted { ($0.property, $0.plan.actions.count) < ($1.property, $1.plan.actions.count) }.prefix(3))
  }
}

/// A timeline in which a property did not hold: its plan, and all that happened.
struct PresenceStory: Sendable {
  let property: Int
  let plan: TimelinePlan
  /// Of the steps, in virtual microseconds.
  let times: [Int64]
  let text: String
}

/// What a model run counted.
struct PresenceTally: Sendable {
  var timelines = 0
  var actions = 0
  var messages = 0
  /// Message and recipient.
  var pairs = 0
  var pushes = 0
  var holds = 0
  /// Looks that a window's end fell into, so that both a push and a hold were right.
  var unclear = 0
  /// By the number of the property.
  var violations: [Int: Int] = [:]

  static func += (sum: inout PresenceTally, other: PresenceTally) {
    sum.timelines += other.timelines
    sum.actions += other.actions
    sum.messages += other.messages
    sum.pairs += other.pairs
    sum.pushes += other.pushes
    sum.holds += other.holds
    sum.unclear += other.unclear
    sum.violations.merge(other.violations, uniquingKeysWith: +)
  }
}

extension PresenceTally: CustomStringConvertible {
  var description: String {
    let broken = PresenceViolation.properties.indices.map { "(\($0 + 1)) \(violations[$0 + 1] ?? 0)" }
    return """
      \(timelines) timelines, \(actions) actions, \(messages) messages, \(pairs) message-recipient pairs, \
      \(pushes) pushes, \(holds) holds, \(unclear) unclear, violations \(broken.joined(separator: ", "))
      """
  }
}

/// A property that did not hold for a pair.
struct PresenceViolation: Sendable {
  /// By number, from 1.
  static let properties = [
    "nobody is pushed while looking, or about what they have read, seen or lost",
    "nobody is left with an unread message that was never pushed",
    "nothing is pushed twice",
    "what may be pushed is pushed in the same step",
    "the ledger says what happened and why",
  ]

  let property: Int
  let pair: PresencePair
  let time: Int64
  let text: String
}

extension PresenceViolation: CustomStringConvertible {
  var description: String {
    "\(seconds(time)) (\(property)) message \(pair.message) to user \(pair.user): \(text)"
  }
}

/// Virtual microseconds as seconds, to be read by people.
func seconds(_ microseconds: Int64) -> String {
  let milliseconds = (microseconds / 1000 % 1000).description
  return "\(microseconds / 1_000_000).\(String(repeating: "0", count: 3 - milliseconds.count))\(milliseconds) s"
}

/// A way in which the product could be wrong, and the property of the model that finds it.
struct PresenceMutant: Sendable, CustomStringConvertible {
  let description: String
  let property: Int
  let apply: @Sendable (inout PresenceModel) -> Void

  func apply(to model: PresenceModel) -> PresenceModel {
    var model = model
    apply(&model)
    return model
  }

  static let all = [
    shortWindow,
    PresenceMutant(description: "a window of 120 s", property: 4) { $0.productWindow = .seconds(120) },
    PresenceMutant(sql: "the last look is ignored", breaks: 1, seenBy(lastSeen: "null", leftAt: "c.tacet_left_at")),
    PresenceMutant(sql: "leaving is ignored", breaks: 4, seenBy(lastSeen: "c.last_seen", leftAt: "null")),
    PresenceMutant(sql: "read_by is ignored", breaks: 1, messageContext(readBy: "'{}'", priorReadBy: "o.read_by")),
    PresenceMutant(
      sql: "reading other messages is ignored", breaks: 1, messageContext(readBy: "m.read_by", priorReadBy: "'{}'")),
    PresenceMutant(
      sql: "holds get lost", breaks: 2,
      trigger(
        "after insert on tacet.deliveries",
        "delete from tacet.deliveries d where (d.subject_id, d.user_id) = (new.subject_id, new.user_id);")),
    PresenceMutant(
      sql: "an event comes back after its record", breaks: 3,
      trigger(
        "after delete on tacet.inbox",
        """
        if old.attempts = 1 then
          delete from tacet.push_log l where l.subject_id = old.subject_id;
          insert into tacet.inbox (subject_id, kind, attempts) values (old.subject_id, old.kind, old.attempts);
        end if;
        """)),
    PresenceMutant(
      sql: "the ledger gives another reason", breaks: 5,
      trigger("before insert or update on tacet.push_log", "new.reason := replace(new.reason, 'already', 'never');")),
  ]

  static let shortWindow = PresenceMutant(description: "a window of 20 s", property: 1) {
    $0.productWindow = .seconds(20)
  }
}

extension PresenceMutant {
  private init(sql description: String, breaks property: Int, _ sabotage: String) {
    self.init(description: description, property: property) { $0.sabotage = sabotage }
  }

  private static func trigger(_ event: String, _ body: String) -> String {
    """
    create function tacet.sabotage() returns trigger language plpgsql
    as $$ begin \(body) return new; end $$;
    create trigger sabotage \(event) for each row execute function tacet.sabotage()
    """
  }

  private static func seenBy(lastSeen: String, leftAt: String) -> String {
    """
    create or replace function tacet.seen_by(conversation_id uuid)
    returns table (user_id uuid, last_seen timestamptz, left_at timestamptz) language sql stable
    as $$
      select c.user_id, \(lastSeen)::timestamptz, \(leftAt)::timestamptz
      from public.conversation_participants c where c.conversation_id = seen_by.conversation_id
    $$
    """
  }

  private static func messageContext(readBy: String, priorReadBy: String) -> String {
    """
    create or replace function tacet.message_context(message_id uuid)
    returns table (
      conversation_id uuid, sender_id uuid, sender_name text, body text, created_at timestamptz, read_by uuid[],
      prior_read_by uuid[], prior_touched_at timestamptz
    ) language sql stable
    as $$
      select m.conversation_id, m.from_id, 'Ann'::text, m.text, m.created_at, \(readBy)::uuid[], o.read_by, o.updated_at
      from public.messages m
      left join lateral (
        select \(priorReadBy)::uuid[] as read_by, o.updated_at from public.messages o
        where o.conversation_id = m.conversation_id and o.id <> m.id order by o.created_at desc limit 1
      ) o on true
      where m.id = message_context.message_id
    $$
    """
  }
}
