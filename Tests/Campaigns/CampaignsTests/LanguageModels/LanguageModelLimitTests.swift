import Reactors
import Simulators
import Testing

@testable import Campaigns

@Suite("Calls to a language model with a limit of their own", .timeLimit(.minutes(1)))
struct LanguageModelLimitTests {
  private static func reply(_ rig: ModelRig, within limit: Duration) async -> LanguageModelError.Code? {
    await rig.client.perform { client, reactor in
      do throws(LanguageModelError) {
        _ = try await client.reply(to: ModelRig.prompt, within: limit, on: reactor)
        return nil
      } catch {
        return error.code
      }
    }
  }

  @Test("end when it is over, and are not made again")
  func limit() async throws {
    let script = ModelScript(.init(.reply("Late"), delayMilliseconds: 10_000, times: 1), .init(.reply("Hello")))
    try await ModelRig.run(script) { rig in
      #expect(await Self.reply(rig, within: .milliseconds(200)) == .timedOut)
      #expect(await Self.reply(rig, within: .seconds(20)) == nil)
      // The first may have ended before it was heard.
      #expect((1...2).contains(rig.model.statistics.total))
    }
  }

  @Test("count the wait for their turn")
  func turn() async throws {
    try await ModelRig.run(ModelScript(.init(.hang)), configure: { $0.callsMax = 1 }) { rig in
      let first = rig.start()
      await rig.pends(1)
      #expect(await Self.reply(rig, within: .milliseconds(100)) == .busy)
      await rig.pends(1)
      #expect(await rig.simulator.waitForRequests(1, within: .seconds(20)))
      rig.model.release()
      _ = await first.value
    }
  }

  @Test("are not retried where the provider asks for a wait")
  func retry() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after-ms": "50"])), .init(.reply("Hello")))
    try await ModelRig.run(script) { rig in
      #expect(await Self.reply(rig, within: .seconds(20)) == .rateLimited)
      #expect(rig.model.statistics.total == 1)
    }
  }
}
