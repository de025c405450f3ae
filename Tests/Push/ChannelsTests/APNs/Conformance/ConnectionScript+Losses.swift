import APNSSimulation
import Channels
import PushRules
import Reactors
import TestAPNSCases

/// Connections that end without a word, or are refused.
extension ConnectionScript {
  static let losses: [String: ConnectionScript] = ["K10": abruptEnd, "K13": idleTimeout, "K14": churn]

  private static let abruptEnd = ConnectionScript(
    configure: allStreams,
    wire: { stand, reactor in
      let findings = Findings()
      stand.script(.dropAfterProcessing, skip: 2)
      let client = try await stand.frameClient(on: reactor)
      try await open(3, client, stand, on: reactor)
      try await client.waitForClose(on: reactor)
      findings.expect(client.answered.isEmpty && client.goAways.isEmpty, "\(client.answered), \(client.goAways)")
      findings.expect(stand.records.map(\.stream) == [1, 3, 5], "arrived \(stand.records.map(\.stream))")
      return findings
    },
    client: { stand, reactor in
      let scene = try await ClientScene.begin(stand, on: reactor)
      scene.script(.dropAfterProcessing, skip: 2)
      try await scene.pushes.send(3, to: scene.token, on: reactor)
      let unknown = (1...3).filter { scene.pushes.attempts[$0]?.isUnknown == true }
      scene.findings.expect(unknown == [1, 2, 3], "\(scene.pushes.attempts)")
      scene.findings.expect(scene.arrivals == [1, 1, 1, 1], "arrivals \(scene.arrivals)")
      return scene.findings
    })

  private static let idleDebug = #"{"reason":"IdleTimeout"}"#

  private static let idleTimeout = ConnectionScript(
    configure: { $0.conduct.idleMilliseconds = 200 },
    wire: { stand, reactor in
      let findings = Findings()
      let client = try await stand.frameClient(on: reactor)
      _ = try await client.answer(to: stand.request().inspected, on: reactor)
      try await client.waitForClose(on: reactor)
      findings.expect(client.goAways == [.init(lastStream: 1, code: 0, debug: idleDebug)], "\(client.goAways)")
      return findings
    },
    client: { stand, reactor in
      let scene = try await ClientScene.begin(stand, on: reactor)
      // Opened later than the client's connection, and so ended later.
      let later = try await stand.frameClient(on: reactor)
      try await later.waitForClose(on: reactor)
      try await scene.pushes.send(to: scene.token, on: reactor)
      scene.expectAllAcceptedOnce()
      scene.findings.expect(scene.connectionsOpened > 1, "no new connection")
      return scene.findings
    })

  private static let refusedFor = Duration.milliseconds(700)

  private static let churn = ConnectionScript(
    wire: { stand, reactor in
      let findings = Findings()
      stand.service.conduct.churn = ChurnLimit(connections: 60, seconds: 60, refusedMilliseconds: 700)
      for _ in 0..<60 { _ = try await stand.frameClient(on: reactor) }
      let start = ContinuousClock.now
      var client: FrameClient?
      while client == nil {
        client = try? await stand.frameClient(on: reactor)
        guard ContinuousClock.now - start < .seconds(10) else { throw CaseFailure("refused for ever") }
      }
      let refused = ContinuousClock.now - start
      try await client?.catchUp(on: reactor)
      findings.expect(refused >= refusedFor, "refused for \(refused)")
      findings.expect(
        stand.simulator.connections.openedCount == 61, "\(stand.simulator.connections.openedCount) opened")
      return findings
    },
    // A second, then two; each wait may be half as long, so that many clients do not come back together.
    client: { stand, reactor in
      let findings = Findings()
      stand.simulator.connections.refuse(next: 2)
      var configuration = APNSConfiguration()
      configuration.connectionWait = .seconds(9)
      let pushes = ClientPushes(try await stand.client(configuration, on: reactor))
      let start = ContinuousClock.now
      try await pushes.send(to: try stand.fixtures.deviceToken("ok"), on: reactor)
      let elapsed = ContinuousClock.now - start
      findings.expect(pushes.areAllAccepted, "\(pushes.attempts)")
      findings.expect(elapsed >= .milliseconds(1500) && elapsed < .seconds(6), "connected after \(elapsed)")
      findings.expect(stand.simulator.connections.refusedCount == 2, "\(stand.simulator.connections.refusedCount)")
      return findings
    })
}
