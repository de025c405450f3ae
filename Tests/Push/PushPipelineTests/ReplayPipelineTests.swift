import FoundationEssentials
import PushKinds
import PushRules
import PushStore
import Reactors
import Replay
import Testing

@testable import PushPipeline

@Suite("What the pipeline has recorded, decided again", .serialized)
struct ReplayPipelineTests {
  /// What happens to the only recipient of a conversation, before and after the message.
  private struct Situation {
    let name: String
    var hasDevice = true
    /// SQL about `$user` and `$conversation`.
    var before = "select"
    /// What the app writes while the push is held, or nothing.
    var after: String?
    let outcome: String

    private static let isSeen =
      "update public.conversation_participants set last_seen = clock_timestamp() where user_id = '$user'"

    static let all = [
      Situation(name: "away", outcome: "sent"),
      Situation(name: "put off", outcome: "sent"),
      Situation(name: "outlasted", before: isSeen, outcome: "sent"),
      Situation(
        name: "read", before: isSeen,
        after: "update public.messages set read_by = array['$user']::uuid[] where id = '$message'",
        outcome: "skipped already_read"),
      Situation(
        name: "left", before: isSeen,
        after: "update public.conversation_participants set left_at = clock_timestamp() where user_id = '$user'",
        outcome: "sent"),
      Situation(name: "seen", before: isSeen, after: isSeen, outcome: "skipped user_viewing"),
      Situation(
        name: "muted",
        before: """
          insert into tacet.conversation_preferences (user_id, conversation_id, is_muted, mentions_only)
          values ('$user', '$conversation', true, false)
          """, outcome: "skipped muted"),
      Situation(name: "without a device", hasDevice: false, outcome: "skipped no_tokens"),
      Situation(
        name: "quiet",
        before: """
          insert into tacet.preferences (user_id, quiet_start, quiet_end, quiet_zone, quiet_policy) values (
            '$user', (now() at time zone 'UTC' - interval '1 h')::time, (now() at time zone 'UTC' + interval '1 h')::time,
            'UTC', 'hold')
          """, outcome: "held quiet_hours"),
    ]

    func play(_ number: Int, in rig: PipelineRig, on reactor: isolated Reactor) async throws {
      let chat = try await Chat(devices: hasDevice ? ["aa\(number)0"] : [], in: rig, on: reactor)
      func run(_ sql: String, _ message: HostID? = nil) async throws {
        try await rig.execute(
          sql.replacing("$user", with: chat.recipients[0].text).replacing("$conversation", with: chat.id.text)
            .replacing("$message", with: message?.text ?? ""), on: reactor)
      }
      try await run(before)
      let isPutOff = name == "put off"
      rig.channel.answer = { _, number in isPutOff && number.isMultiple(of: 2) ? .broken : .accepted }
      let id = try await chat.post(waking: .webhook, on: reactor)
      let first = try await rig.outcomes(of: id, on: reactor)
      if let after {
        #expect(first.map(\.reason) == ["user_viewing"], "\(name)")
        try await run(after, id)
        rig.pipeline.wake(.due, on: reactor)
      }
      let last = try await rig.outcomes(of: id, on: reactor) { outcomes in outcomes.map(Self.words) == [outcome] }
      #expect(last.count == 1, "\(name)")
    }

    private static func words(_ outcome: RecordedOutcome) -> String {
      [outcome.decision.rawValue, outcome.reason].compactMap { $0 }.joined(separator: " ")
    }
  }

  private static func report(
    _ rig: PipelineRig, _ change: RuleChange = RuleChange(), on reactor: isolated Reactor
  ) async throws -> ReplayReport {
    var request = ReplayRequest(span: 0..<4_000_000_000_000_000)
    request.rules.general = change
    request.pageRows = 2
    return try await request.run(in: rig.store, on: reactor)
  }

  private static func counts(_ report: ReplayReport) -> [ReplayEffect: Int] {
    report.changes.reduce(into: [:]) { $0[$1.effect, default: 0] += $1.count }
  }

  @Test("by the rules of then nothing changes; by others, what they are about does")
  func situations() async throws {
    try await PipelineRig.run(window: .seconds(2)) { rig, reactor in
      rig.start(on: reactor)
      for (number, situation) in Situation.all.enumerated() { try await situation.play(number, in: rig, on: reactor) }
      let unchanged = try await Self.report(rig, on: reactor)
      #expect((unchanged.pushes, unchanged.differences, unchanged.inconsistent) == (9, 0, 0), "\(unchanged.text)")
      #expect(unchanged.decisions > 13 && unchanged.count(.notRecorded) == 0, "\(unchanged.text)")
      #expect(unchanged.sent == (4, 4))

      var change = RuleChange()
      change.window = .seconds(2)
      #expect(try await Self.report(rig, change, on: reactor).differences == 0)
      change.window = .zero
      // What was read or seen is sent; what the window had held is sent earlier, as what was left.
      let instant = try await Self.report(rig, change, on: reactor)
      #expect(Self.counts(instant) == [.more: 2, .earlier: 2], "\(instant.text)")
      change.window = .seconds(3600)
      // The app has told of the one who left, so no window holds that push.
      let long = try await Self.report(rig, change, on: reactor)
      #expect(Self.counts(long) == [.laterOrNever: 1], "\(long.text)")
      change = RuleChange()
      change.quietHours = .off
      let awake = try await Self.report(rig, change, on: reactor)
      #expect(Self.counts(awake) == [.earlier: 1], "\(awake.text)")
      #expect(awake.changes.first?.before == "held quiet_hours" && awake.changes.first?.after == "sent")
    }
  }

  @Test("one kind and a bounded number of pushes are replayed")
  func bounded() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      rig.start(on: reactor)
      for _ in 0..<5 {
        let id = try await chat.post(waking: .webhook, on: reactor)
        _ = try await rig.outcomes(of: id, on: reactor) { $0.map(\.decision) == [.sent] }
      }
      var request = ReplayRequest(span: 0..<4_000_000_000_000_000, kind: "coach")
      #expect(try await request.run(in: rig.store, on: reactor).pushes == 0)
      request.kind = MessagePush.name
      request.rowsMax = 3
      let report = try await request.run(in: rig.store, on: reactor)
      #expect(report.pushes == 3 && report.isCut && report.sent == (3, 3))
    }
  }
}
