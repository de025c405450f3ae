import TestRandomness

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
