import Channels
import Foundation
import Postgres
import PushRules
import PushStore
import Reactors
import Synchronization
import TestIDs
import TestRandomness
import Testing

@testable import PushPipeline

@Suite("The model of bursts", .serialized, .uuidsOnly)
struct FoldModelTests {
  private static let worldSize = 250
  private static let steps = 14
  private static let window = Duration.seconds(20)

  @Test(
    "random timelines: one sound a window, the newest message on the screen, nothing lost, no update after the window")
  func timelines() async throws {
    let environment = ProcessInfo.processInfo.environment
    let seed = environment["FOLD_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000_000)
    let count = environment["FOLD_TIMELINES"].flatMap { Int($0) } ?? 2000
    let tally = Tally()
    for first in stride(from: 0, to: count, by: Self.worldSize) {
      try await play(first..<min(first + Self.worldSize, count), seed: seed, into: tally)
    }
    print("fold model: seed \(seed), \(count) timelines, \(tally.text)")
    #expect(tally.violations == [])
    #expect(tally.updates > 0)
  }

  private func play(_ numbers: Range<Int>, seed: UInt64, into tally: Tally) async throws {
    try await PipelineRig.run(window: .seconds(10), configure: Self.configure) { rig, reactor in
      let timelines = numbers.map { FoldTimeline(number: $0, steps: Self.steps, seed: seed) }
      let world = try await FoldWorld(
        timelines, window: 20_000_000, seed: ~seed &+ UInt64(numbers.lowerBound), in: rig, on: reactor)
      try await world.run(steps: Self.steps, on: reactor)
      tally.add(world.oracles, from: numbers.lowerBound, leftovers: try await world.leftovers(on: reactor))
      if let broken = world.oracles.firstIndex(where: { !$0.violations.isEmpty }) {
        print("timeline \(numbers.lowerBound + broken):\n\(try await world.story(of: broken, on: reactor))")
      }
      rig.channel.delays = { _ in false }
      rig.channel.answer = { _, _ in .accepted }
    }
  }

  /// No lease ends on a slow machine, and nothing writes while time is being moved.
  private static let configure: @Sendable (inout PipelineConfiguration) -> Void = {
    $0.folding = FoldPolicy(window: window)
    $0.lease = .seconds(3600)
    $0.pushLimit = .seconds(600)
    $0.holdReviewWait = .seconds(3600)
    $0.lanes.breaker = .quick
  }
}

/// Sums over worlds.
private final class Tally: Sendable {
  private struct Sums {
    var messages = 0
    var sounds = 0
    var updates = 0
    var violations: [String] = []
  }

  private let sums = Mutex(Sums())

  func add(_ oracles: [FoldOracle], from first: Int, leftovers: Int64) {
    sums.withLock { sums in
      for (place, oracle) in oracles.enumerated() {
        sums.messages += oracle.messages
        sums.sounds += oracle.sounds
        sums.updates += oracle.updates
        sums.violations += oracle.violations.map { "timeline \(first + place): \($0)" }
      }
      if leftovers > 0 { sums.violations.append("\(leftovers) pieces of work or messages are left") }
    }
  }

  var violations: [String] { sums.withLock { Array($0.violations.prefix(20)) } }
  var updates: Int { sums.withLock(\.updates) }

  var text: String {
    sums.withLock { "\($0.messages) messages, \($0.sounds) pushes with sound, \($0.updates) silent updates" }
  }
}

/// What the phone of one timeline's recipient has shown, and whether it may have.
struct FoldOracle {
  /// A push that the phone has got; times in virtual microseconds.
  private struct Shown {
    let message: Int
    let collapse: String
    let sentAt: Int64
    let sounds: Bool
    let isMention: Bool
  }

  /// Between a decision and the moment when the push is handed over, on a busy machine.
  private static let lag: Int64 = 3_000_000

  let window: Int64
  private(set) var violations: [String] = []
  private(set) var sounds = 0
  private(set) var updates = 0
  private(set) var messages = 0
  private var shown: [Shown] = []
  /// The message of each notification, by its collapse identifier.
  private var screen: [String: Int] = [:]
  /// When a push with sound was last handed over, by its collapse identifier.
  private var soundSentAt: [String: Int64] = [:]
  /// The newest message that the recipient has read or may have seen.
  private var handled = -1
  private var mentions: Set<Int> = []

  init(window: Int64) { self.window = window }

  mutating func apply(_ action: FoldTimeline.Action) {
    switch action {
    case .post: messages += 1
    case .mention(let number):
      messages += 1
      mentions.insert(number)
    // A report says that all was seen; one that comes while pushes are held may skip them.
    case .read, .look: handled = messages - 1
    case .leave: break
    }
  }

  /// A push is handed over.
  mutating func sent(_ push: FoldPush, at time: Int64) {
    if push.sounds {
      soundSentAt[push.collapse] = time
    } else {
      let sounded = soundSentAt[push.collapse]
      // A mention within the window of another sound may be skipped before it goes out; its burst then has no sound of its own.
      if sounded.map({ time > $0 + window + Self.lag }) ?? mentions.isEmpty {
        violations.append("an update of \(push.message) at \(time), but its burst sounded at \(sounded ?? -1)")
      }
      if !push.isPassive { violations.append("an update of \(push.message) that is not passive") }
    }
  }

  /// The phone has it; pushes that overtake each other come in the order of their answers.
  mutating func accepted(_ push: FoldPush, sentAt: Int64) {
    let isMention = mentions.contains(push.message)
    if let same = shown.last(where: { $0.collapse == push.collapse }), same.message > push.message {
      violations.append("the text went back from \(same.message) to \(push.message)")
    }
    if push.more >= max(1, messages) { violations.append("+\(push.more) more of \(messages)") }
    screen[push.collapse] = push.message
    sounds += push.sounds ? 1 : 0
    updates += push.sounds ? 0 : 1
    shown.append(
      Shown(message: push.message, collapse: push.collapse, sentAt: sentAt, sounds: push.sounds, isMention: isMention))
  }

  /// Once nothing is left to do.
  mutating func judgeEnd() {
    let shown = shown.sorted { $0.sentAt < $1.sentAt }
    let sounding = shown.filter { $0.sounds && !$0.isMention }
    for (last, next) in zip(sounding, sounding.dropFirst()) where next.sentAt < last.sentAt + window - Self.lag {
      violations.append("\(next.message) sounds at \(next.sentAt), but \(last.message) did at \(last.sentAt)")
    }
    let newest = messages - 1
    guard newest > handled else { return }
    // Beside it there may be the notification of an older mention, or of what sounded anew while a slow update was in flight.
    let last = shown.last { $0.message == newest }.flatMap { self.screen[$0.collapse] }
    if last != newest {
      violations.append("shows \(last ?? -1) in the end instead of \(newest); seen \(handled)")
    }
  }
}

/// A push as the phone reads it.
struct FoldPush {
  let message: Int
  let token: String
  let collapse: String
  let sounds: Bool
  let isPassive: Bool
  let more: Int

  private struct Payload: Decodable {
    struct APS: Decodable {
      struct Alert: Decodable {
        var subtitle: String?
        var body: String
      }
      let alert: Alert
      var sound: String?
      var level: String?
      private enum CodingKeys: String, CodingKey {
        case alert, sound
        case level = "interruption-level"
      }
    }
    let aps: APS
  }

  init?(_ sent: ScriptedChannel.Sent) {
    guard let payload = try? JSONDecoder().decode(Payload.self, from: Data(sent.request.body)),
      let message = payload.aps.alert.body.split(separator: " ").first.flatMap({ Int($0) }),
      let collapse = sent.request.collapseIdentifier?.text
    else { return nil }
    self.message = message
    self.collapse = collapse
    token = sent.token
    sounds = payload.aps.sound != nil
    isPassive = payload.aps.level == "passive"
    more = payload.aps.alert.subtitle.flatMap { $0.firstMatch(of: /\d+/).flatMap { Int($0.output) } } ?? 0
  }
}

/// One conversation with one recipient: what happens in it, at random.
struct FoldTimeline {
  enum Action: Equatable {
    case post(Int)
    case mention(Int)
    case read
    case look
    case leave
  }

  /// Between two steps the virtual clock advances; in each there are some transactions.
  static let beats = 3
  static let messagesMax = 40

  let id = HostID.new()
  let sender = HostID.new()
  let reader = HostID.new()
  let token: String
  let messages = (0..<messagesMax).map { _ in HostID.new() }
  private let actions: [[Action?]]

  init(number: Int, steps: Int, seed: UInt64) {
    var generator = SeededGenerator(seed: seed, part: number)
    var posted = 0
    func action(_ chance: Int) -> Action? {
      if posted < Self.messagesMax, chance < 55 {
        posted += 1
        return chance < 4 ? .mention(posted - 1) : .post(posted - 1)
      }
      return [55: .read, 56: .look, 57: .look, 58: .leave, 59: .leave][chance]
    }
    actions = (0..<steps).map { step in
      // Bursts, and silence between them.
      let isBusy = (step / 3).isMultiple(of: 2) != (number.isMultiple(of: 2))
      return (0..<Self.beats).map { _ in
        let chance = Int.random(in: 0..<100, using: &generator)
        return isBusy || chance >= 55 ? action(chance) : nil
      }
    }
    let digits = String(number, radix: 16)
    token = String(repeating: "0", count: 8 - digits.count) + digits
  }

  func action(step: Int, beat: Int) -> Action? { actions[step][beat] }

  var preparation: String {
    """
    insert into public.profiles (id, name) values ('\(sender)', 'Ann'), ('\(reader)', 'Bob');
    insert into public.conversations (id) values ('\(id)');
    insert into public.conversation_participants (conversation_id, user_id) values ('\(id)', '\(sender)'), ('\(id)', '\(reader)');
    insert into public.push_tokens (user_id, device_token) values ('\(reader)', '\(token)');
    """
  }

  /// What a host would write, with its semicolon.
  func sql(for action: Action) -> String {
    switch action {
    case .post(let number): posting(number, "\(number)")
    case .mention(let number): posting(number, "\(number) @Bob")
    case .read:
      """
      update public.messages set read_by = array['\(reader)']::uuid[]
      where conversation_id = '\(id)' and read_by = '{}';
      """
    case .look: reporting("last_seen")
    case .leave: reporting("tacet_left_at")
    }
  }

  private func posting(_ number: Int, _ text: String) -> String {
    """
    insert into public.messages (id, conversation_id, from_id, text)
    values ('\(messages[number])', '\(id)', '\(sender)', '\(text)');
    """
  }

  private func reporting(_ column: String) -> String {
    """
    update public.conversation_participants set \(column) = clock_timestamp()
    where conversation_id = '\(id)' and user_id = '\(reader)';
    """
  }
}

/// Many timelines in one database, and the two pipelines that serve them.
final class FoldWorld {
  private let rig: PipelineRig
  private let other: DeliveryPipeline
  private let clock: VirtualClock
  private let timelines: [FoldTimeline]
  private let byToken: [String: Int]
  private(set) var oracles: [FoldOracle]
  private var generator: SeededGenerator
  private var sentAt: [Int: (time: Int64, advances: Int)] = [:]
  /// How often time was moved.
  private var advances = 0
  /// Virtual minus monotonic microseconds.
  private var offset: Int64 = 0
  private var isCalm = false
  private var logs: [[String]]

  init(_ timelines: [FoldTimeline], window: Int64, seed: UInt64, in rig: PipelineRig, on reactor: isolated Reactor)
    async throws
  {
    self.rig = rig
    self.timelines = timelines
    byToken = Dictionary(uniqueKeysWithValues: timelines.enumerated().map { ($1.token, $0) })
    oracles = timelines.map { _ in FoldOracle(window: window) }
    logs = timelines.map { _ in [] }
    generator = SeededGenerator(seed: seed)
    clock = try await VirtualClock(rig, on: reactor)
    other = DeliveryPipeline(
      store: rig.store, deliverers: [rig.apns], configuration: rig.pipeline.configuration, logger: .quiet)
    try await rig.execute("begin;" + timelines.map(\.preparation).joined() + "commit", on: reactor)
    rig.channel.delays = { [unowned self] in handedOver($0) }
    rig.channel.answer = { [unowned self] push, _ in answer(push) }
  }

  private var now: Int64 { Int64(Reactor.now / 1000) + offset }

  /// Lives through so many steps, then lets everything end.
  func run(steps: Int, on reactor: isolated Reactor) async throws {
    for step in 0..<steps {
      try await advance(by: Int64.random(in: 100_000...9_000_000, using: &generator), on: reactor)
      for beat in 0..<FoldTimeline.beats {
        try await act(step: step, beat: beat, on: reactor)
        if Bool.random(using: &generator) { try await look(on: reactor) }
      }
      try await look(on: reactor)
      rig.channel.release(rig.channel.heldCount * 2 / 3, on: reactor)
      // What they release is recorded before time is moved.
      try await look(on: reactor)
    }
    isCalm = true
    // Seconds let a burst's last update go; more than the window ends what waits for that.
    for round in 0..<30 {
      rig.channel.release(rig.channel.heldCount, on: reactor)
      try await look(on: reactor)
      if round > 5, try await leftovers(on: reactor) == 0 { break }
      try await advance(by: round % 2 == 0 ? 21_000_000 : 2_000_000, on: reactor)
    }
    try await look(on: reactor)
    for place in oracles.indices { oracles[place].judgeEnd() }
  }

  /// Work and undecided messages that are left, and messages without a final row.
  func leftovers(on reactor: isolated Reactor) async throws -> Int64 {
    try await rig.value(
      """
      select (select count(*) from tacet.inbox) + (select count(*) from tacet.deliveries)
        + (select count(*) from public.messages m where not exists (
          select from tacet.push_log l where l.subject_id = m.id and l.decision <> 'held'))
      """, on: reactor)
  }

  /// What the ledger says of a timeline's messages, a line each.
  func story(of place: Int, on reactor: isolated Reactor) async throws -> String {
    var lines: [String] = []
    for (number, id) in timelines[place].messages.enumerated().prefix(oracles[place].messages) {
      let history: String = try await rig.value(
        """
        select coalesce(string_agg((select string_agg(concat_ws(' ', h ->> 'claim', h ->> 'decision', h ->> 'reason',
          h ->> 'remaining', h ->> 'fold'), ' -> ') from jsonb_array_elements(l.history) h), ''), 'nothing')
        from tacet.push_log l where l.subject_id = '\(id)'
        """, on: reactor)
      lines.append("  \(number) \(id.shortMark): \(history)")
    }
    return (lines + logs[place]).joined(separator: "\n")
  }

  private func advance(by time: Int64, on reactor: isolated Reactor) async throws {
    try await clock.advance(to: try await clock.now(on: reactor) + time, on: reactor)
    advances += 1
    offset = try await clock.now(on: reactor) - Int64(Reactor.now / 1000)
  }

  private func act(step: Int, beat: Int, on reactor: isolated Reactor) async throws {
    var sql = ""
    for (place, timeline) in timelines.enumerated() {
      guard let action = timeline.action(step: step, beat: beat) else { continue }
      sql += timeline.sql(for: action)
      oracles[place].apply(action)
      logs[place].append("  \(now / 1000) ms: \(action)")
    }
    if !sql.isEmpty { try await rig.execute("begin;" + sql + "commit", on: reactor) }
  }

  /// Both pipelines look until nothing is due, and nothing is under way but what the channel holds.
  private func look(on reactor: isolated Reactor) async throws {
    for _ in 0..<30_000 {
      let row = try await rig.pool.query(Self.underWay, on: reactor).one()
      let (work, waiting): (Int64, Int64) = (try row.decode(0), try row.decode(1))
      // What waits for a route waits as long as a slow push probes it.
      if work <= rig.channel.heldCount, waiting == 0 || rig.channel.heldCount > 0 { return }
      let done = Signal()
      reactor.start {
        await self.other.look(on: reactor)
        done.signal(on: reactor)
      }
      await rig.pipeline.look(on: reactor)
      guard await done.wait(for: .seconds(30), on: reactor) else { throw TestFailure("a look does not end") }
    }
    throw TestFailure("the pipelines do not come to rest")
  }

  /// Whether the push is slow.
  private func handedOver(_ sent: ScriptedChannel.Sent) -> Bool {
    guard let push = FoldPush(sent), let place = byToken[push.token] else { return false }
    sentAt[key(sent)] = (now, advances)
    oracles[place].sent(push, at: now)
    note(push, "handed over", at: place)
    return !isCalm && Int.random(in: 0..<10, using: &generator) == 0
  }

  private func answer(_ sent: ScriptedChannel.Sent) -> APNSOutcome {
    guard let push = FoldPush(sent), let place = byToken[push.token] else { return .badKey }
    let sentAt = self.sentAt[key(sent)] ?? (now, advances)
    // Queued again, the message would have the date of its claim, from before time was moved, and seem newer than it is.
    if !isCalm, sentAt.advances == advances, Int.random(in: 0..<10, using: &generator) == 0 {
      note(push, "refused", at: place)
      return Bool.random(using: &generator) ? .busy : .limited
    }
    note(push, "accepted", at: place)
    oracles[place].accepted(push, sentAt: sentAt.time)
    return .accepted
  }

  private func note(_ push: FoldPush, _ what: String, at place: Int) {
    logs[place].append("  \(now / 1000) ms: \(push.message) \(what), \(push.sounds ? "with sound" : "+\(push.more)")")
  }

  private func key(_ sent: ScriptedChannel.Sent) -> Int { sent.identifier.hashValue }

  private static let underWay = PostgresStatement(
    "fold_under_way",
    """
    select
      (select count(*) from tacet.inbox) + (
        select count(*) from tacet.deliveries where due_at <= now() and state <> 'waiting' or is_claimed),
      (select count(*) from tacet.deliveries where due_at <= now() and state = 'waiting' and not is_claimed)
    """)
}
