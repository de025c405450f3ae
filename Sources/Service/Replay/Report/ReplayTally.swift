internal import FoundationEssentials
internal import PushKinds
internal import PushRules
internal import PushStore

/// Replays pushes one by one, in the order of their commits, and counts what changes.
struct ReplayTally {
  private struct Row: Hashable {
    let effect: ReplayEffect
    let before: String
    let after: String
  }

  /// Different rows: thirteen reasons and some ways to end make no more that matter.
  private static let rowsMax = 500

  private let rules: ReplayRules
  private let examplesMax: Int
  private let folds: Bool
  private var rows: [Row: ReplayReport.Change] = [:]
  private var figures = ReplayReport()
  private var bursts = BurstCount()

  init(_ rules: ReplayRules, examplesMax: Int) {
    self.rules = rules
    self.examplesMax = examplesMax
    folds = ([rules.general] + rules.kinds.values).contains { $0.foldWindow != nil }
  }

  mutating func add(_ push: RecordedPush) {
    figures.pushes += 1
    let timeline = PushTimeline(push)
    figures.decisions += timeline.entries.count
    let (before, change) = (timeline.recorded, rules.change(for: push.kind))
    let after = timeline.entries.isEmpty ? .notRecorded : timeline.replayed(by: change)
    check(timeline, of: push, before)
    count(push, before, after)
    if folds { fold(push, change, before, after) }
  }

  private mutating func check(_ timeline: PushTimeline, of push: RecordedPush, _ before: ReplayedOutcome) {
    guard !timeline.isConsistent else { return }
    figures.inconsistent += 1
    guard figures.inconsistentExamples.count < examplesMax else { return }
    figures.inconsistentExamples.append(ReplayExample(push, before, before))
  }

  private mutating func count(_ push: RecordedPush, _ before: ReplayedOutcome, _ after: ReplayedOutcome) {
    if case .pushed = before { figures.sent.before += 1 }
    if case .pushed = after { figures.sent.after += 1 }
    guard let effect = ReplayEffect(from: before, to: after) else { return }
    let row = Row(effect: effect, before: before.words, after: after.words)
    guard rows[row] != nil || rows.count < Self.rowsMax else {
      figures.otherChanges += effect == .notRecorded ? 0 : 1
      return
    }
    rows[row, default: .init(effect: effect, before: row.before, after: row.after)]
      .add(ReplayExample(push, before, after), examplesMax: examplesMax)
  }

  private mutating func fold(
    _ push: RecordedPush, _ change: RuleChange, _ before: ReplayedOutcome, _ after: ReplayedOutcome
  ) {
    figures.sounding = figures.sounding ?? (0, 0)
    if case .pushed = before, push.sounds != false { figures.sounding?.before += 1 }
    bursts.advance(to: push.enqueuedAt)
    guard case .pushed(let at, _) = after else { return }
    guard let window = change.foldWindow else {
      bursts.add(asRecorded: push.sounds != false)
      return
    }
    if push.surface == nil { figures.withoutSurface += 1 }
    bursts.add(
      BurstMessage(enqueuedAt: push.enqueuedAt, id: push.subjectID?.text ?? push.id.uuidString),
      of: push.surface.map { BurstCount.Key(userID: push.userID, surface: $0) }, at: at,
      isMention: push.history?.last?.situation.isMentioned == true, window: window.wholeMicroseconds)
  }

  /// Ends the replay.
  consuming func report(of span: Range<Int64>, isCut: Bool) -> ReplayReport {
    bursts.advance(to: .max)
    var report = figures
    report.span = span
    report.isCut = isCut
    report.sounding?.after = bursts.sounding
    let order = ReplayEffect.allCases
    report.changes = rows.values.sorted {
      let places = (order.firstIndex(of: $0.effect) ?? 0, order.firstIndex(of: $1.effect) ?? 0)
      return (places.0, $1.count, $0.before, $0.after) < (places.1, $0.count, $1.before, $1.after)
    }
    return report
  }
}

extension ReplayReport.Change {
  fileprivate mutating func add(_ example: ReplayExample, examplesMax: Int) {
    count += 1
    if let before = example.wait, let after = example.waitAfter {
      shift = (shift ?? .zero) + (after > before ? after - before : before - after)
    }
    if examples.count < examplesMax { examples.append(example) }
  }
}

extension ReplayExample {
  fileprivate init(_ push: RecordedPush, _ before: ReplayedOutcome, _ after: ReplayedOutcome) {
    subjectID = push.subjectID
    kind = push.kind
    userID = push.userID
    enqueuedAt = push.enqueuedAt
    wait = before.time.map { .microseconds($0 - push.enqueuedAt) }
    waitAfter = after.time.map { .microseconds($0 - push.enqueuedAt) }
  }
}
