import FoundationEssentials
import PrometheusMetrics
import PushStore
import Reactors
import Testing

@testable import PushPipeline

@Suite("Rescuer")
struct RescuerTests {
  @Test("of an import nothing is pushed or recorded, it is counted, and the message in between goes")
  func importsAreDiscarded() async throws {
    try await PipelineRig.run { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      let old = """
        insert into public.messages (conversation_id, from_id, text, created_at)
        select '\(chat.id)', '\(chat.sender)', 'old', now() - interval '2 years' from generate_series(1, 2000)
        """
      try await rig.execute(old, on: reactor)
      let id = try await chat.post(on: reactor)[0]
      try await rig.execute(old, on: reactor)
      rig.start(on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.sent])
      await Rescuer(for: rig.pipeline).look(on: reactor)
      try await rig.nothingLeft(on: reactor)
      #expect(rig.channel.sent.count == 1)
      #expect(try await rig.value("select count(*) from tacet.push_log", as: Int64.self, on: reactor) == 1)
      let discarded = rig.metrics.collect().first { $0.name == "tacet_messages_discarded_total" }
      #expect(discarded?.samples.map(\.value) == [.integer(4000)])
    }
  }

  @Test("a release that a host could not make ends the hold, by notification and without", arguments: [true, false])
  func queuedReleases(_ isNotified: Bool) async throws {
    try await PipelineRig.run(configure: withoutPolls) { rig, reactor in
      let chat = try await Chat(in: rig, on: reactor)
      try await chat.see(ago: "1 s", on: reactor)
      rig.start(on: reactor)
      let id = try await chat.post(waking: .webhook, on: reactor)
      #expect(try await rig.outcomes(of: id, on: reactor).map(\.decision) == [.held])
      try await rig.execute(
        """
        insert into tacet.releases (subject_id, user_id, cause) values ('\(id)', '\(chat.recipients[0])', 'left');
        update public.conversation_participants set tacet_left_at = clock_timestamp()
        """, on: reactor)
      if isNotified {
        rig.pipeline.releasesQueued(on: reactor)
      } else {
        await Rescuer(for: rig.pipeline).look(on: reactor)
      }
      #expect(try await rig.outcomes(of: id, on: reactor) { $0.first?.decision == .sent }.count == 1)
      #expect(try await rig.value("select count(*) from tacet.releases", as: Int64.self, on: reactor) == 0)
    }
  }
}
