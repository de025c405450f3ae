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
