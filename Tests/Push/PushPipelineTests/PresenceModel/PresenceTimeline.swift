import FoundationEssentials
import PushRules
import TestIDs
import TestRandomness

/// One timeline in a database: who and what its numbers are, what the oracle thinks, and what happened.
final class PresenceTimeline {
  let plan: TimelinePlan
  let conversation = HostID.new().text
  let users: [String]
  private(set) var messages: [Int: String] = [:]
  private(set) var oracle: PresenceOracle
  private var journal: [(time: Int64, text: String)] = []
  private var next = 0

  init(_ plan: TimelinePlan, window: Int64) {
    self.plan = plan
    users = plan.members.map { _ in HostID.new().text }
    oracle = PresenceOracle(plan.members, window: window)
    for case .post(let message, _) in plan.actions.map(\.action) { messages[message] = HostID.new().text }
  }

  /// The device tokens of a user, in the order of the devices' numbers.
  func tokens(of user: Int) -> [String] {
    let digits = users[user].utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    return (0..<plan.members[user].devices).map { "\(digits)0\($0)" }
  }

  /// The action of this beat, if there is one; the next call names a later beat.
  func action(step: Int, beat: Int) -> HostAction? {
    guard next < plan.actions.count, plan.actions[next].step == step, plan.actions[next].beat == beat else {
      return nil
    }
    next += 1
    return plan.actions[next - 1].action
  }

  func apply(_ action: HostAction, at time: Int64) {
    journal.append((time, "\(action)"))
    oracle.apply(action, at: time)
  }

  func judge(_ look: ObservedLook) {
    for (pair, devices) in look.pushed {
      journal.append((look.span.upperBound, "  push: message \(pair.message) to user \(pair.user) on \(devices)"))
    }
    for (pair, line) in look.ledger {
      journal.append((look.span.upperBound, "  ledger: message \(pair.message), user \(pair.user): \(line)"))
    }
    oracle.judge(look)
  }

  func judgeEnd(_ look: ObservedLook) { oracle.judgeEnd(look) }

  /// Everything in order, and what was wrong with it.
  var story: String {
    let people = plan.members.enumerated().map { number, member in
      "user \(number): \(member.devices) devices\(member.isInFromTheStart ? "" : ", not in the group yet")"
    }
    let lines = journal.map { "\(seconds($0.time)) \($0.text)" }
    return (people + lines + oracle.violations.map { "VIOLATION \($0)" }).joined(separator: "\n")
  }
}

// What a host application would write.
extension PresenceTimeline {
  /// The rows of the conversation before anything happens.
  var preparation: String {
    var sql = "insert into public.conversations (id) values ('\(conversation)');"
    for (number, user) in users.enumerated() {
      sql += "insert into public.profiles (id, name) values ('\(user)', 'User \(number)');"
      if plan.members[number].isInFromTheStart { sql += joining(user) }
      for token in tokens(of: number) {
        sql += "insert into public.push_tokens (user_id, device_token) values ('\(user)', '\(token)');"
      }
    }
    return sql
  }

  /// One statement, with its semicolon.
  func sql(for action: HostAction) -> String {
    switch action {
    case .post(let message, let author):
      """
      insert into public.messages (id, conversation_id, from_id, text)
      values ('\(id(of: message))', '\(conversation)', '\(users[author])', 'Message \(message)');
      """
    case .look(let user): updating("last_seen", of: user)
    case .leaveScreen(let user): updating("tacet_left_at", of: user)
    case .read(let user, let messages, let touches): reading(messages, by: users[user], touches: touches)
    case .edit(let message):
      "update public.messages set text = text || '!', updated_at = now() where id = '\(id(of: message))';"
    case .delete(let message): "delete from public.messages where id = '\(id(of: message))';"
    case .join(let user): joining(users[user])
    case .leaveGroup(let user): "delete from public.conversation_participants where \(row(of: user));"
    }
  }

  private func joining(_ user: String) -> String {
    """
    insert into public.conversation_participants (conversation_id, user_id) values ('\(conversation)', '\(user)')
    on conflict do nothing;
    """
  }

  private func updating(_ column: String, of user: Int) -> String {
    "update public.conversation_participants set \(column) = now() where \(row(of: user));"
  }

  private func reading(_ messages: [Int], by user: String, touches: Bool) -> String {
    let ids = messages.map { "'\(id(of: $0))'" }.joined(separator: ", ")
    return """
      update public.messages
      set read_by = array_append(read_by, '\(user)')\(touches ? ", updated_at = now()" : "")
      where id in (\(ids)) and not read_by @> array['\(user)'::uuid];
      """
  }

  private func row(of user: Int) -> String { "conversation_id = '\(conversation)' and user_id = '\(users[user])'" }

  /// A message that a shortened plan posts no more has an id that no row has.
  private func id(of message: Int) -> String { messages[message] ?? HostID.new().text }
}

/// What is true in one conversation, from its actions alone. Times are virtual microseconds.
struct TimelineFacts {
  struct Member {
    let devices: Int
    var isIn: Bool
    var lastSeen: Int64?
    var leftAt: Int64?
    /// Kept when the group is left, unlike the rest.
    var lookedLast: Int64?
    var leftGroupLast: Int64?
  }

  struct Message {
    let author: Int
    let arrivedAt: Int64
    var touchedAt: Int64
    var readers: Set<Int> = []
    var isDeleted = false
  }

  private(set) var members: [Member]
  private(set) var messages: [Int: Message] = [:]

  init(_ plan: [PlannedMember]) {
    members = plan.map { Member(devices: $0.devices, isIn: $0.isInFromTheStart) }
  }

  /// The newest message of the conversation but this one.
  func newestOther(than message: Int) -> Message? {
    messages.filter { $0.key != message && !$0.value.isDeleted }.max { $0.value.arrivedAt < $1.value.arrivedAt }?.value
  }

  mutating func apply(_ action: HostAction, at time: Int64) {
    switch action {
    case .post(let message, let author):
      messages[message] = Message(author: author, arrivedAt: time, touchedAt: time)
    case .look(let user) where members[user].isIn:
      members[user].lastSeen = time
      members[user].lookedLast = time
    case .leaveScreen(let user) where members[user].isIn:
      members[user].leftAt = time
    case .read(let user, let read, let touches):
      for message in read where messages[message]?.readers.contains(user) == false {
        note(user, message, touches, time)
      }
    case .edit(let message):
      messages[message]?.touchedAt = time
    case .delete(let message):
      messages[message]?.isDeleted = true
    case .join(let user) where !members[user].isIn:
      members[user].isIn = true
    case .leaveGroup(let user):
      leaveGroup(user, time)
    case .look, .leaveScreen, .join:
      break
    }
  }

  private mutating func note(_ reader: Int, _ message: Int, _ touches: Bool, _ time: Int64) {
    messages[message]?.readers.insert(reader)
    if touches { messages[message]?.touchedAt = time }
  }

  /// Whoever comes back is as new as anybody.
  private mutating func leaveGroup(_ user: Int, _ time: Int64) {
    members[user].isIn = false
    members[user].lastSeen = nil
    members[user].leftAt = nil
    members[user].leftGroupLast = time
  }
}

extension TimelinePlan {
  /// A timeline that a seed repeats.
  static func random(steps: Int, using generator: inout SeededGenerator) -> TimelinePlan {
    var writer = TimelineWriter(generator)
    for step in 0..<steps {
      for beat in 0..<beats { writer.act(step: step, beat: beat) }
    }
    generator = writer.generator
    return writer.plan
  }

  /// When each step begins, in virtual microseconds from the start; the last two come after quiet windows.
  ///
  /// No step falls on an edge: none begins, give or take `guardTime`, one window after another step, which is where
  /// signs of presence are dated.
  static func times(
    steps: Int, window: Int64, guardTime: Int64, using generator: inout SeededGenerator
  ) -> [Int64] {
    var times: [Int64] = [0]
    while times.count < steps {
      let next = times[times.count - 1] + randomPause(using: &generator)
      if times.allSatisfy({ abs(next - $0 - window) > guardTime }) { times.append(next) }
    }
    for _ in 0..<2 { times.append(times[times.count - 1] + window + 7 * guardTime) }
    return times
  }

  /// Seconds within a look, a look's repeat, around the window, and long away.
  private static func randomPause(using generator: inout SeededGenerator) -> Int64 {
    let seconds: ClosedRange<Double> =
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<9: 2.5...5
      case 9..<16: 10...30
      case 16..<19: 55...70
      default: 90...600
      }
    return Int64(Double.random(in: seconds, using: &generator) * 1_000_000)
  }
}

/// Draws actions that make sense where they stand: people who are in the group, messages that are there.
private struct TimelineWriter {
  private(set) var plan: TimelinePlan
  var generator: SeededGenerator
  private var reporting: [Bool]
  private var facts: TimelineFacts
  private var posted = 0
  private var clock: Int64 = 0

  init(_ generator: SeededGenerator) {
    var generator = generator
    let recipients = Int.random(in: 1...4, using: &generator)
    let members = (0...recipients).map { number in
      PlannedMember(
        devices: [0, 1, 1, 1, 2].randomElement(using: &generator) ?? 1,
        isInFromTheStart: number < 2 || Int.random(in: 0..<4, using: &generator) > 0)
    }
    reporting = members.map { _ in Int.random(in: 0..<4, using: &generator) > 0 }
    self.generator = generator
    plan = TimelinePlan(members: members, actions: [])
    facts = TimelineFacts(members)
  }

  mutating func act(step: Int, beat: Int) {
    clock += 1
    guard Int.random(in: 0..<10, using: &generator) < 6, let action = draw() else { return }
    facts.apply(action, at: clock)
    plan.actions.append(PlannedAction(step: step, beat: beat, action: action))
  }

  private mutating func draw() -> HostAction? {
    let present = facts.members.indices.filter { facts.members[$0].isIn }
    guard let user = present.randomElement(using: &generator) else { return nil }
    let reader = present.filter { $0 != 0 }.randomElement(using: &generator) ?? user
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<30: return post(by: Int.random(in: 0..<4, using: &generator) > 0 ? 0 : user)
    case 30..<58: return reporting[reader] ? .look(reader) : read(by: reader)
    case 58..<66: return .leaveScreen(reader)
    case 66..<82: return read(by: reader)
    case 82..<86: return anyMessage().map { .edit(message: $0) }
    case 86..<91: return anyMessage().map { .delete(message: $0) }
    case 91..<95: return reader == 0 ? nil : .leaveGroup(reader)
    default: return facts.members.indices.filter { !present.contains($0) }.first.map { .join($0) }
    }
  }

  private mutating func post(by author: Int) -> HostAction {
    posted += 1
    return .post(message: posted, author: author)
  }

  /// The newest, any one, or all.
  private mutating func read(by user: Int) -> HostAction? {
    let others = facts.messages.filter { $0.value.author != user && !$0.value.isDeleted }.keys.sorted()
    guard let newest = others.last, let any = others.randomElement(using: &generator) else { return nil }
    let choices = [[newest], [any], others]
    return .read(
      user, messages: choices.randomElement(using: &generator) ?? others,
      touches: Int.random(in: 0..<5, using: &generator) > 0)
  }

  /// Recent ones mostly, because that is where holds are.
  private mutating func anyMessage() -> Int? {
    let there = facts.messages.filter { !$0.value.isDeleted }.keys.sorted()
    return there.suffix(2).randomElement(using: &generator)
  }
}

/// Something that people or the host application do in one conversation. People are numbered within it, and so are
/// messages; an action on something that is not there (any more) does nothing.
enum HostAction: Equatable, Sendable {
  case post(message: Int, author: Int)
  /// `last_seen = now()`.
  case look(Int)
  /// `tacet_left_at = now()`.
  case leaveScreen(Int)
  /// `touches`: whether the host moves `updated_at` with it.
  case read(Int, messages: [Int], touches: Bool)
  case edit(message: Int)
  case delete(message: Int)
  case join(Int)
  case leaveGroup(Int)
}

/// An action and its place in a timeline.
struct PlannedAction: Equatable, Sendable {
  let step: Int
  /// Half of a step: a transaction of its own.
  let beat: Int
  let action: HostAction
}

/// Someone in a timeline.
struct PlannedMember: Equatable, Sendable {
  let devices: Int
  let isInFromTheStart: Bool
}

/// What happens in one conversation, apart from the times of its steps.
struct TimelinePlan: Equatable, Sendable {
  /// Between two looks of the service there are this many transactions.
  static let beats = 2

  var members: [PlannedMember]
  var actions: [PlannedAction]

  /// Plans without a run of the actions: halves, quarters, down to single ones.
  var shorter: [TimelinePlan] {
    var plans: [TimelinePlan] = []
    var length = (actions.count + 1) / 2
    while length > 0 {
      for first in stride(from: 0, to: actions.count, by: length) {
        plans.append(without(first..<min(first + length, actions.count)))
      }
      length /= 2
    }
    return plans
  }

  private func without(_ range: Range<Int>) -> TimelinePlan {
    var plan = self
    plan.actions.removeSubrange(range)
    return plan
  }
}

extension HostAction: CustomStringConvertible {
  var description: String {
    switch self {
    case .post(let message, let author): "user \(author) posts message \(message)"
    case .look(let user): "user \(user) looks (last_seen = now())"
    case .leaveScreen(let user): "user \(user) leaves the screen (tacet_left_at = now())"
    case .read(let user, let messages, let touches):
      "user \(user) reads \(messages)\(touches ? "" : ", updated_at stays")"
    case .edit(let message): "message \(message) is edited"
    case .delete(let message): "message \(message) is deleted"
    case .join(let user): "user \(user) joins the group"
    case .leaveGroup(let user): "user \(user) leaves the group"
    }
  }
}
