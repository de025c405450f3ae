import Foundation
import HTTP2
import Reactors
import Testing

@testable import Simulators

@Suite("Faults over the wire")
struct PushServerTests {
  @Test(
    "a fault gives its request the outcome it stands for, and the log says whether it was processed",
    arguments: [
      (ServerFault.refuseStream, "not processed: refused", 0),
      (.resetStream(code: 2), "unknown: reset 2", 1),
      (.dropBeforeProcessing, "unknown: connection lost", 0),
      (.dropAfterProcessing, "unknown: connection lost", 1),
      (.goAway(lastStream: .current, code: 0, debug: ""), "200", 1),
      (.goAway(lastStream: .all, code: 0, debug: ""), "200", 1),
      (.goAway(lastStream: .previous, code: 0, debug: ""), "not processed: goaway", 0),
      (.goAway(lastStream: .none, code: 7, debug: "too many streams"), "not processed: goaway", 0),
      (.announceStreams(3), "200", 1),
      (.ignorePings, "200", 1),
      (.delay(milliseconds: 20), "200", 1),
      (.answer(ScriptedAnswer(status: 503, reason: "Shutdown")), #"503 {"reason":"Shutdown"}"#, 1),
    ])
  func faults(_ fault: ServerFault, _ outcome: String, _ recorded: Int) async throws {
    try await SimulatorScene.play { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      scene.script(fault)
      #expect(await connection.outcome(of: push, on: reactor) == outcome)
      #expect(scene.service.withLog { $0.total } == 1 + recorded)
      let met = try #require(scene.service.metFaults.first)
      #expect(met.kind == fault.kind.rawValue && met.stream == 3 && met.connection == 1)
      #expect(met.push == (recorded == 1 ? 2 : nil) && met.token == SimulatorScene.token)
    }
  }

  @Test("a connection that falls silent neither answers nor ends")
  func silence() async throws {
    try await SimulatorScene.play { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      scene.script(.silence)
      for _ in 0..<2 {
        #expect(await connection.outcome(of: push, within: .milliseconds(100), on: reactor) == "unknown: deadline")
      }
      #expect(scene.service.withLog { $0.total } == 1 && connection.state == .ready)
    }
  }

  @Test("a device that gets more than its rate is protected, the others are not held up")
  func tokenRate() async throws {
    try await SimulatorScene.play({ $0.registry.tokenRate = TokenRate(pushes: 2, seconds: 3600) }) { scene, reactor in
      scene.service.withRegistry { registry in
        _ = registry.register(RegisteredDevice(environment: .production, bundle: "com.example.app"), token: "b0b0")
      }
      let connection = try await scene.connect(on: reactor)
      let token = try scene.providerToken()
      var outcomes: [String] = []
      for device in ["a0a0", "A0A0", "a0a0", "b0b0"] {
        outcomes.append(await connection.outcome(of: scene.push(token, to: device), on: reactor))
      }
      #expect(outcomes == ["200", "200", #"429 {"reason":"TooManyRequests"}"#, "200"])
      scene.service.clock.advance(milliseconds: 1_800_000)
      #expect(await connection.outcome(of: scene.push(token), on: reactor) == "200")
    }
  }

  @Test("a black hole swallows a request; the connection lives on")
  func blackHole() async throws {
    try await SimulatorScene.play { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      scene.script(.blackHole)
      #expect(await connection.outcome(of: push, within: .milliseconds(200), on: reactor) == "unknown: deadline")
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      #expect(scene.service.withLog { $0.total } == 2)
      #expect(scene.service.unprocessed == 1)
    }
  }

  @Test("a GOAWAY in the middle of a batch splits it: the streams up to it are answered, the rest provably untouched")
  func goAwayMidBatch() async throws {
    try await SimulatorScene.play { scene, reactor in
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      scene.script(.goAway(lastStream: .current, code: 0, debug: #"{"reason":"Shutdown"}"#), skip: 4)
      let outcomes = await connection.outcomes(of: Array(repeating: push, count: 10), on: reactor)
      #expect(outcomes == Array(repeating: "200", count: 5) + Array(repeating: "not processed: goaway", count: 5))
      #expect(scene.service.withLog { $0.total } == 6)
    }
  }

  @Test("out of service, it ends its connections and refuses new ones; back in service, it answers at the same address")
  func outOfService() async throws {
    try await SimulatorScene.play { scene, reactor in
      let before = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await before.outcome(of: push, on: reactor) == "200")
      await scene.simulator.suspend()
      #expect(scene.simulator.connections.open.isEmpty)
      let address = try #require(scene.addresses.listeners[.production])
      let refused = await #expect(throws: SystemError.self) {
        _ = try await Socket.connect(to: address, within: .seconds(10), on: reactor)
      }
      #expect(refused?.code == ECONNREFUSED)
      try await scene.simulator.resume()
      let after = try await scene.connect(on: reactor)
      #expect(await after.outcome(of: push, on: reactor) == "200")
      #expect(scene.service.withLog { $0.total } == 2)
    }
  }

  @Test("a fault for now happens to every open connection without a request")
  func strikesNow() async throws {
    try await SimulatorScene.play { scene, reactor in
      let observer = StateObserver()
      let connection = try await scene.connect(on: reactor)
      let push = scene.push(try scene.providerToken())
      #expect(await connection.outcome(of: push, on: reactor) == "200")
      connection.observer = observer
      let fault = ServerFault.goAway(lastStream: .current, code: 0, debug: #"{"reason":"Shutdown"}"#)
      #expect(scene.simulator.connections.strike(fault) == 1)
      #expect(await observer.changed.wait(for: .seconds(10), on: reactor))
      #expect(observer.goAways.map(\.lastStreamID) == [1])
      #expect(observer.goAways.map(\.debugData) == [Array(#"{"reason":"Shutdown"}"#.utf8)])
    }
  }
}

private final class StateObserver: HTTP2ConnectionObserver {
  let changed = Signal()
  private(set) var goAways: [HTTP2GoAway] = []

  func connection(
    _ connection: HTTP2Connection, changedTo state: HTTP2ConnectionState, on reactor: isolated Reactor
  ) {
    if case .draining(.goAway(let goAway)) = state { goAways.append(goAway) }
    changed.signal(on: reactor)
  }
}
