import Channels
import FoundationEssentials
import Reactors
import TestIDs
import Testing

@testable import PushPipeline
@testable import PushRules
@testable import PushStore

@Suite("The gate")
struct GateTests {
  private let gate = Gate(policy: SuppressionPolicy(window: .seconds(60), timeToLive: .seconds(3600)))

  private func settled(
    _ decision: OutcomeDecision, _ reason: String? = nil, due: Duration? = nil, accepted: [String] = []
  ) -> RecipientOutcome {
    RecipientOutcome(
      userID: PushFixtures.user, decision: decision, reason: reason, due: due,
      remaining: due == nil ? nil : .held, acceptedDevices: accepted)
  }

  @Test("somebody who is away and has a device is sent to")
  func send() {
    #expect(gate.outcome(for: PushFixtures.recipient()) == nil)
  }

  @Test(
    "each result of the rule is worded as an outcome",
    arguments: [
      (RecipientSituation(isDeleted: true), "deleted"),
      (RecipientSituation(hasRead: true), "already_read"),
      (RecipientSituation(messageAge: .seconds(3600) + .microseconds(1)), "expired"),
      (RecipientSituation(lastSeenAge: .seconds(1), sawAfterMessage: true), "user_viewing"),
      (RecipientSituation(isOptedOut: true), "opted_out"),
      (RecipientSituation(isMuted: true), "muted"),
      (RecipientSituation(wantsMentionsOnly: true), "not_mentioned"),
      (RecipientSituation(deviceCount: 0), "no_tokens"),
      (RecipientSituation(quietHoursRemaining: .seconds(9), quietHoursPolicy: .drop), "quiet_hours"),
    ])
  func skips(situation: RecipientSituation, reason: String) {
    #expect(gate.outcome(for: PushFixtures.recipient(situation: situation)) == settled(.skipped, reason))
  }

  @Test("a hold says how long, why, and that it remains")
  func holds() {
    let viewing = PushFixtures.recipient(situation: RecipientSituation(lastSeenAge: .seconds(20)))
    #expect(gate.outcome(for: viewing) == settled(.held, "user_viewing", due: .seconds(40)))
    let quiet = PushFixtures.recipient(situation: RecipientSituation(quietHoursRemaining: .seconds(9)))
    #expect(gate.outcome(for: quiet) == settled(.held, "quiet_hours", due: .seconds(9)))
  }

  @Test("the hold ends with the window", arguments: [(59_999_999, true), (60_000_000, false)])
  func windowEnd(microseconds: Int, isHeld: Bool) {
    let recipient = PushFixtures.recipient(
      situation: RecipientSituation(lastSeenAge: .microseconds(microseconds)))
    let held = settled(.held, "user_viewing", due: .microseconds(1))
    #expect(gate.outcome(for: recipient) == (isHeld ? held : nil))
  }

  @Test("somebody who no longer takes part is skipped, whatever else is known of them")
  func notParticipant() {
    let situations = [RecipientSituation(), RecipientSituation(hasRead: true), RecipientSituation(lastSeenAge: .zero)]
    for situation in situations {
      let recipient = PushFixtures.recipient(isParticipant: false, situation: situation)
      #expect(gate.outcome(for: recipient) == settled(.skipped, "not_participant"))
    }
  }

  @Test("a deleted message is the truer reason: without it nobody can be seen to take part")
  func deletedBeforeParticipant() {
    let recipient = PushFixtures.recipient(isParticipant: false, situation: RecipientSituation(isDeleted: true))
    #expect(gate.outcome(for: recipient) == settled(.skipped, "deleted"))
  }

  @Test(
    "what one device already shows stays sent, whatever is learnt later",
    arguments: [
      (true, RecipientSituation(isDeleted: true)), (true, RecipientSituation(hasRead: true)),
      (true, RecipientSituation(lastSeenAge: .zero)), (true, RecipientSituation(messageAge: .seconds(9999))),
      (false, RecipientSituation()),
    ])
  func partlyAccepted(isParticipant: Bool, situation: RecipientSituation) {
    let recipient = PushFixtures.recipient(
      isParticipant: isParticipant, situation: situation, accepted: ["cc03"])
    #expect(gate.outcome(for: recipient) == settled(.sent, accepted: ["cc03"]))
  }

  @Test("a retry with every device accepted is done; one with a device left is sent")
  func rest() {
    let done = PushFixtures.recipient(devices: [], accepted: ["cc03"])
    #expect(gate.outcome(for: done) == settled(.sent, accepted: ["cc03"]))
    #expect(gate.outcome(for: PushFixtures.recipient(accepted: ["cc03"])) == nil)
  }
}

@Suite("Bursts in the pipeline", .serialized)
struct FoldingPipelineTests {
  private static let folding: @Sendable (inout PipelineConfiguration) -> Void = {
    // The window outlasts a burst on a machine that has much else to do.
    $0.folding = FoldPolicy(window: .seconds(60))
  }

  /// Members of a push as the phone reads them.
  private struct Payload: Decodable {
    struct APS: Decodable {
      struct Alert: Decodable { let subtitle: String? }
      let alert: Alert
      let badge: Int
      let sound: String?
    }
    let aps: APS
    let message_id: String

    init(_ sent: ScriptedChannel.Sent) throws {
      self = try JSONDecoder().decode(Self.self, from: Data(sent.request.body))
    }
  }

  /// Thirty messages; their ids.
  private func burst(_ rig: PipelineRig, on reactor: isolated Reactor) async throws -> [HostID] {
    let chat = try await Chat(in: rig, on: reactor)
    rig.start(on: reactor)
    var ids: [HostID] = []
    for _ in 0..<30 { ids.append(try await chat.post(waking: .notify, on: reactor)) }
    try await rig.nothingLeft(on: reactor)
    return ids
  }

  @Test("a burst of thirty is one sound and silent updates of its notification, which ends with the newest message")
  func folds() async throws {
    try await PipelineRig.run(configure: Self.folding) { rig, reactor in
      let ids = try await burst(rig, on: reactor)
      let payloads = try rig.channel.sent.map(Payload.init)
      let sounds = payloads.filter { $0.aps.sound != nil }
      print("a burst of 30: \(sounds.count) with sound, \(payloads.count - sounds.count) silent updates")
      #expect(sounds.count == 1 && payloads.first?.aps.sound != nil)
      #expect(Set(rig.channel.sent.map { $0.request.collapseIdentifier?.text }) == [ids[0].text])
      let last = try #require(payloads.last)
      #expect(last.message_id == ids[29].text && last.aps.alert.subtitle == "+29 more" && last.aps.badge == 30)
      let folded = try await rig.value(
        "select count(*) from tacet.push_log where reason = 'folded'", as: Int64.self, on: reactor)
      #expect(Int(folded) == 30 - payloads.count)
      #expect(rig.outcomes(.skipped) == 30 - payloads.count)
    }
  }

  @Test("where nothing folds a burst of thirty is thirty sounds")
  func off() async throws {
    try await PipelineRig.run { rig, reactor in
      _ = try await burst(rig, on: reactor)
      #expect(try rig.channel.sent.map(Payload.init).count { $0.aps.sound != nil } == 30)
    }
  }

  @Test("while a push has no answer its followers wait; then the newest goes, and the others fold into it")
  func waits() async throws {
    try await Chat.run(configure: Self.folding) { rig, chat, reactor in
      rig.channel.holds = true
      rig.start(on: reactor)
      var ids = [try await chat.post(waking: .notify, on: reactor)]
      try await rig.channel.received(1, on: reactor)
      for _ in 0..<5 { ids.append(try await chat.post(waking: .notify, on: reactor)) }

      while rig.pipeline.room.places < 6 { await reactor.sleep(for: .milliseconds(1)) }
      #expect(rig.channel.sent.count == 1)
      rig.channel.release(on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(try rig.channel.sent.map { try Payload($0).message_id } == [ids[0].text, ids[5].text])
      #expect(try Payload(rig.channel.sent[1]).aps.alert.subtitle == "+5 more")
      for id in ids[1..<5] {
        #expect(try await rig.outcomes(of: id, on: reactor).map(\.reason) == ["folded"])
      }
    }
  }

  @Test("a message that the user reads while it waits long for its update is not shown")
  func read() async throws {
    let impatient: @Sendable (inout PipelineConfiguration) -> Void = {
      Self.folding(&$0)
      $0.factsLife = .milliseconds(1)
    }
    try await Chat.run(configure: impatient) { rig, chat, reactor in
      rig.channel.holds = true
      rig.start(on: reactor)
      _ = try await chat.post(waking: .notify, on: reactor)
      try await rig.channel.received(1, on: reactor)
      let second = try await chat.post(waking: .notify, on: reactor)
      while rig.pipeline.room.places < 2 { await reactor.sleep(for: .milliseconds(1)) }
      try await chat.read(on: reactor)
      await reactor.sleep(for: .milliseconds(2))
      rig.channel.release(on: reactor)
      let ended = try await rig.outcomes(of: second, on: reactor) { $0[0].decision == .skipped }
      #expect(ended.map(\.reason) == ["already_read"])
      #expect(rig.channel.sent.count == 1)
    }
  }

  @Test("who takes a conversation over knows its burst from the ledger")
  func takenOver() async throws {
    try await Chat.run(configure: Self.folding) { rig, chat, reactor in
      rig.start(on: reactor)
      let first = try await chat.post(waking: .notify, on: reactor)
      _ = try await rig.outcomes(of: first, on: reactor)
      for more in 1...2 {
        let now: Int64 = try await rig.value("select tacet.unix_us(clock_timestamp())", on: reactor)
        let owned = OwnedShards(
          (0..<OwnedShards.count).map { HeldShard(number: $0, takenAt: now, epoch: Int64(more)) })
        rig.pipeline.own(owned, until: .max, on: reactor)
        _ = try await rig.outcomes(of: chat.post(waking: .notify, on: reactor), on: reactor)
        let update = try #require(rig.channel.sent.last)
        #expect(update.request.collapseIdentifier?.text == first.text)
        let shown = try Payload(update).aps
        #expect(shown.sound == nil && shown.alert.subtitle == "+\(more) more")
      }
    }
  }
}
