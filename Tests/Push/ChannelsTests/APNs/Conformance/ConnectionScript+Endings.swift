import Channels
import PushRules
import Reactors
import Simulators
import TestAPNSCases

/// Connections that the server ends with a word.
extension ConnectionScript {
  static let goAways: [String: ConnectionScript] = [
    "K04": midBatch, "K06": twoSteps, "K07": speechless, "K08": plainText, "K09": answerLost,
  ]

  private static let shutdown = #"{"reason":"Shutdown"}"#

  private static let midBatch = ConnectionScript(
    configure: allStreams,
    wire: { stand, reactor in
      let findings = Findings()
      stand.script(.goAway(lastStream: .current, code: 0, debug: shutdown), skip: 4)
      let client = try await stand.frameClient(on: reactor)
      try await open(10, client, stand, on: reactor)
      try await client.waitForClose(on: reactor)
      findings.expect(client.answered == [1, 3, 5, 7, 9], "answered \(client.answered)")
      findings.expect(client.goAways == [.init(lastStream: 9, code: 0, debug: shutdown)], "\(client.goAways)")
      return findings
    },
    client: { stand, reactor in
      let scene = try await ClientScene.begin(stand, on: reactor)
      scene.script(.goAway(lastStream: .current, code: 0, debug: shutdown), skip: 4)
      try await scene.pushes.send(10, to: scene.token, on: reactor)
      scene.expectAllAcceptedOnce()
      scene.findings.expect(scene.connectionsOpened == 2, "\(scene.connectionsOpened) connections")
      return scene.findings
    })

  /// The first frame with the first request, the second with the fourth.
  private static func scriptTwoSteps(_ stand: Stand) {
    stand.script(.goAway(lastStream: .all, code: 0, debug: ""))
    stand.script(.goAway(lastStream: .current, code: 0, debug: ""), skip: 2)
  }

  private static let twoSteps = ConnectionScript(
    configure: allStreams,
    wire: { stand, reactor in
      let findings = Findings()
      scriptTwoSteps(stand)
      let client = try await stand.frameClient(on: reactor)
      try await open(5, client, stand, on: reactor)
      try await client.waitForClose(on: reactor)
      findings.expect(client.answered == [1, 3, 5, 7], "answered \(client.answered)")
      findings.expect(client.goAways.map(\.lastStream) == [.max, 7], "GOAWAY \(client.goAways)")
      return findings
    },
    client: { stand, reactor in
      let scene = try await ClientScene.begin(stand, on: reactor)
      scriptTwoSteps(stand)
      try await scene.pushes.send(5, to: scene.token, on: reactor)
      try await scene.pushes.send(5, to: scene.token, on: reactor)
      scene.expectAllAcceptedOnce()
      let old = stand.records.filter { $0.connection == stand.records.first?.connection }
      scene.findings.expect(old.count == 5, "\(old.count) pushes were judged on the ended connection")
      return scene.findings
    })

  private static let speechless = ended(by: .goAway(lastStream: .none, code: 0, debug: "")) { goAway in
    goAway == .init(lastStream: 0, code: 0, debug: "")
  }

  private static let violated = "Maximum active streams violated for this endpoint."

  /// After it the client starts anew with one stream, and none of its streams is refused.
  private static let plainText = ended(by: .goAway(lastStream: .stream(1355), code: 7, debug: violated)) { goAway in
    goAway == .init(lastStream: 1355, code: 7, debug: violated)
  }

  /// A GOAWAY while nothing is under way.
  private static func ended(
    by fault: ServerFault, isExpected: @escaping @Sendable (FrameClient.GoAway) -> Bool
  ) -> ConnectionScript {
    ConnectionScript(
      wire: { stand, reactor in
        let findings = Findings()
        let client = try await stand.frameClient(on: reactor)
        try await client.catchUp(on: reactor)
        stand.simulator.connections.strike(fault)
        try await client.waitForClose(on: reactor)
        findings.expect(client.goAways.count == 1 && client.goAways.allSatisfy(isExpected), "\(client.goAways)")
        return findings
      },
      client: { stand, reactor in
        let scene = try await ClientScene.begin(stand, on: reactor)
        scene.strike(fault)
        try await scene.waitForConnection(2, on: reactor)
        try await scene.pushes.send(10, to: scene.token, on: reactor)
        scene.expectAllAcceptedOnce()
        scene.findings.expect(scene.connectionsOpened == 2, "\(scene.connectionsOpened) connections")
        let refused = stand.simulator.connections.open.map(\.refusedStreams)
        scene.findings.expect(refused.allSatisfy { $0 == 0 }, "refused streams \(refused)")
        return scene.findings
      })
  }

  private static let answerLost = ConnectionScript(
    configure: allStreams,
    wire: { stand, reactor in
      let findings = Findings()
      stand.registerSlowToken(delayMilliseconds: 60_000)
      let client = try await stand.frameClient(on: reactor)
      let slow = try stand.request(["path": "/3/device/\(ClientScene.slowToken)"]).inspected
      try await open(2, client, stand, on: reactor)
      client.open(slow)
      try await client.flush(on: reactor)
      try await client.wait("two answers", on: reactor) { $0.answered == [1, 3] }
      guard await stand.simulator.waitForPushes(3, within: .seconds(60)) else { throw CaseFailure("no third request") }
      stand.simulator.connections.strike(.goAway(lastStream: .current, code: 0, debug: shutdown))
      try await client.wait("GOAWAY", on: reactor) { !$0.goAways.isEmpty }
      stand.simulator.connections.strike(.dropAfterProcessing)
      try await client.waitForClose(on: reactor)
      findings.expect(client.answered == [1, 3], "answered \(client.answered)")
      findings.expect(client.goAways.map(\.lastStream) == [5], "GOAWAY \(client.goAways)")
      return findings
    },
    client: { stand, reactor in
      stand.registerSlowToken(delayMilliseconds: 60_000)
      let scene = try await ClientScene.begin(stand, on: reactor)
      try scene.pushes.start(to: ClientScene.slowToken, on: reactor)
      guard await stand.simulator.waitForPushes(2, within: .seconds(60)) else { throw CaseFailure("no second push") }
      scene.strike(.goAway(lastStream: .current, code: 0, debug: shutdown))
      try await scene.waitForConnection(2, on: reactor)
      scene.strike(.dropAfterProcessing)
      try await scene.pushes.finish(on: reactor)
      scene.findings.expect(scene.pushes.attempts[1]?.isUnknown == true, "\(scene.pushes.attempts)")
      scene.findings.expect(scene.arrivals == [1, 1], "arrivals \(scene.arrivals)")
      return scene.findings
    })
}

extension APNSOutcome {
  /// Whether nothing is known of the push.
  var isUnknown: Bool {
    if case .unknown = self { true } else { false }
  }
}

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
    configure: { $0.conduct.idleMilliseconds = 1000 },
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
      findings.expect(elapsed >= .milliseconds(1500) && elapsed < .seconds(9), "connected after \(elapsed)")
      findings.expect(stand.simulator.connections.refusedCount == 2, "\(stand.simulator.connections.refusedCount)")
      return findings
    })
}
