import Postgres
import PushStore
import Reactors
import Testing

@testable import PushPipeline

@Suite("The engagement analyst")
struct EngagementAnalystTests {
  private static let count = "select count(*) from tacet.engagement_analyses"

  /// Begins at once.
  private func makeAnalyst(_ rig: PipelineRig, waitMax: Duration = .seconds(3600)) -> EngagementAnalyst {
    var pace = EngagementAnalyst.Pace()
    pace.firstWaitMax = .zero
    pace.waitMax = waitMax
    pace.retryWait = .milliseconds(5)
    return EngagementAnalyst(store: rig.store, pace: pace, logger: .quiet)
  }

  private func awaitRows(_ rows: Int64, in rig: PipelineRig, on reactor: isolated Reactor) async throws {
    for _ in 0..<3000 {
      if try await rig.value(Self.count, as: Int64.self, on: reactor) == rows { return }
      await reactor.sleep(for: .milliseconds(10))
    }
    throw TestFailure("there are not \(rows) analyses")
  }

  @Test("two at once store one analysis, and the next when the newest is 72 hours old")
  func together() async throws {
    try await PipelineRig.run { rig, reactor in
      let analysts = (0..<2).map { _ in makeAnalyst(rig, waitMax: .milliseconds(5)) }
      for analyst in analysts { reactor.start { await analyst.run(on: reactor) } }
      try await awaitRows(1, in: rig, on: reactor)
      try await rig.execute(
        "update tacet.engagement_analyses set analysed_at = analysed_at - interval '72 hours'", on: reactor)
      try await awaitRows(2, in: rig, on: reactor)
      for analyst in analysts { analyst.stop(on: reactor) }
      #expect(try await rig.value(Self.count, as: Int64.self, on: reactor) == 2)
    }
  }

  @Test("one that fails is tried again")
  func failure() async throws {
    try await PipelineRig.run { rig, reactor in
      try await rig.execute("alter table tacet.activity rename to lost", on: reactor)
      let analyst = makeAnalyst(rig)
      reactor.start { await analyst.run(on: reactor) }
      for _ in 0..<5 { await reactor.sleep(for: .milliseconds(10)) }
      #expect(try await rig.value(Self.count, as: Int64.self, on: reactor) == 0)
      try await rig.execute("alter table tacet.lost rename to activity", on: reactor)
      try await awaitRows(1, in: rig, on: reactor)
      analyst.stop(on: reactor)
    }
  }

  @Test("one that was stopped returns, however long until the next is due")
  func stopped() async throws {
    try await PipelineRig.run { rig, reactor in
      let analyst = makeAnalyst(rig)
      let returned = Signal()
      reactor.start {
        await analyst.run(on: reactor)
        returned.signal(on: reactor)
      }
      try await awaitRows(1, in: rig, on: reactor)
      analyst.stop(on: reactor)
      #expect(await returned.wait(for: .seconds(30), on: reactor))
    }
  }
}
