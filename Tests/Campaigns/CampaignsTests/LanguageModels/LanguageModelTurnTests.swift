import Reactors
import Simulators
import Testing

@testable import Campaigns

@Suite("Calls to language models at the same time", .timeLimit(.minutes(1)))
struct LanguageModelTurnTests {
  private static func hangs(_ times: Int) -> ModelScript {
    ModelScript(.init(.hang, times: times), .init(.reply("Hello")))
  }

  @Test("are as many as may be, the others wait, and nobody beyond them")
  func bound() async throws {
    try await ModelRig.run(
      Self.hangs(3),
      configure: {
        $0.callsMax = 3
        $0.waitingMax = 7
      }
    ) { rig in
      let calls = (0..<10).map { _ in rig.start() }
      #expect(await rig.simulator.waitForRequests(3, within: .seconds(20)))
      await rig.pends(10)
      let refused = try #require(await rig.reply().error)
      #expect(refused.code == .busy)
      #expect(refused.attempts == 0)
      #expect(rig.model.statistics.inFlight == 3)
      #expect(rig.model.release() == 3)
      for call in calls { #expect(await call.value.code == nil) }
      #expect(rig.model.statistics.inFlightMax == 3)
      #expect(rig.model.statistics.total == 10)
      await rig.pends(0)
    }
  }

  @Test("wait while a provider that limits the rate is waited for")
  func backPressure() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after-ms": "50"])), .init(.reply("Hello")))
    try await ModelRig.run(script, configure: { $0.callsMax = 1 }) { rig in
      let calls = [rig.start(), rig.start()]
      var attempts: [Int] = []
      for call in calls { attempts.append(try await call.value.get().attempts) }
      #expect(attempts.sorted() == [1, 2])
      #expect(rig.model.statistics.inFlightMax == 1)
    }
  }

  @Test("begin to count their time with their turn")
  func patience() async throws {
    try await ModelRig.run(
      ModelScript(.init(.reply("Hello"), delayMilliseconds: 800)),
      configure: {
        $0.callsMax = 1
        $0.deadline = .seconds(2)
      }
    ) { rig in
      for call in (0..<3).map({ _ in rig.start() }) { #expect(await call.value.code == nil) }
    }
  }

  @Test("end with their task, whether they are under way or wait")
  func cancel() async throws {
    try await ModelRig.run(Self.hangs(1), configure: { $0.callsMax = 1 }) { rig in
      let running = rig.start()
      #expect(await rig.simulator.waitForRequests(1, within: .seconds(20)))
      let waiting = rig.start()
      await rig.pends(2)
      for call in [waiting, running] {
        call.cancel()
        #expect(await call.value.code == .cancelled)
      }
      #expect(await rig.reply().code == nil)
      #expect(rig.model.statistics.total == 2)
    }
  }

  @Test("end with their task before a second request, too")
  func cancelBetween() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after": "4"])), .init(.reply("Hello")))
    try await ModelRig.run(script) { rig in
      let call = rig.start()
      while rig.model.requests.first?.answered == nil { await Task.yield() }
      call.cancel()
      #expect(await call.value.code == .cancelled)
      #expect(rig.model.statistics.total == 1)
    }
  }

  @Test("are broken off by a close, wherever they are, and none begins after it")
  func close() async throws {
    let script = ModelScript(.init(.failure(status: 429, fields: ["retry-after": "4"])), .init(.hang))
    try await ModelRig.run(script, configure: { $0.callsMax = 2 }) { rig in
      let first = rig.start()
      while rig.model.requests.first?.answered == nil { await Task.yield() }
      let others = [rig.start(), rig.start()]
      #expect(await rig.simulator.waitForRequests(2, within: .seconds(20)))
      await rig.pends(3)
      await rig.client.perform { $0.close(on: $1) }
      for call in [first] + others { #expect(await call.value.code == .closed) }
      #expect(await rig.reply().code == .closed)
    }
  }
}
