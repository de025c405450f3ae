import APNSSimulation
import Channels
import PushRules
import Reactors
import TestAPNSCases

/// How many streams a connection has.
extension ConnectionScript {
  static let streams: [String: ConnectionScript] = ["K03": excess, "K15": priorities, "K16": lowered]

  private static let excess = ConnectionScript(
    wire: { stand, reactor in
      let findings = Findings()
      let client = try await stand.frameClient(on: reactor)
      try await open(2, client, stand, on: reactor)
      try await client.wait("both ends", on: reactor) { $0.answered == [1] && $0.resets[3]?.count == 2 }
      findings.expect(client.answers[1]?.status == 200, "answered \(client.answers)")
      findings.expect(client.resets == [3: [7, 5]], "reset \(client.resets)")
      return findings
    },
    client: { stand, reactor in
      let scene = try await ClientScene.begin(stand, on: reactor)
      scene.script(.refuseStream)
      try await scene.pushes.send(to: scene.token, on: reactor)
      scene.expectAllAcceptedOnce()
      let met = stand.service.metFaults
      scene.findings.expect(met.map(\.kind) == ["refuse_stream"], "met \(met)")
      scene.findings.expect(met.first?.identifier == scene.pushes.identifiers.last, "resent under another identifier")
      return scene.findings
    })

  private static let priorities = ConnectionScript(
    wire: { stand, reactor in
      let findings = Findings()
      let client = try await stand.frameClient(on: reactor)
      client.put(Frame.priority(stream: 1))
      let first = try await client.answer(to: stand.request().inspected, on: reactor)
      client.put(Frame.priority(stream: 1))
      let second = try await client.answer(to: stand.request().inspected, on: reactor)
      findings.expect([first.status, second.status] == [200, 200], "answered \(first.status), \(second.status)")
      return findings
    },
    client: { stand, reactor in
      let scene = try await ClientScene.begin(stand, on: reactor)
      scene.expectAllAcceptedOnce()
      return scene.findings
    })

  private static let lowered = ConnectionScript(
    configure: allStreams,
    wire: { stand, reactor in
      let findings = Findings()
      stand.registerSlowToken(delayMilliseconds: 400)
      let client = try await stand.frameClient(on: reactor)
      let slow = try stand.request(["path": "/3/device/\(ClientScene.slowToken)"]).inspected
      for _ in 0..<50 { client.open(slow) }
      try await client.flush(on: reactor)
      guard await stand.simulator.waitForPushes(50, within: .seconds(10)) else { throw CaseFailure("not 50 requests") }
      stand.simulator.connections.strike(.announceStreams(1))
      try await client.wait("SETTINGS", on: reactor) { $0.streamLimits.last == 1 }
      findings.expect(client.answered.isEmpty, "answered before the limit was lowered: \(client.answered)")
      let late = client.open(try stand.request().inspected)
      try await client.flush(on: reactor)
      try await client.wait("50 answers", on: reactor) { $0.answered.count == 50 && $0.resets[late]?.count == 2 }
      findings.expect(client.answers.values.allSatisfy { $0.status == 200 }, "\(client.answers)")
      findings.expect(client.resets == [late: [7, 5]], "reset \(client.resets)")
      stand.simulator.connections.strike(.announceStreams(100))
      try await client.wait("SETTINGS", on: reactor) { $0.streamLimits.last == 100 }
      try await open(100, client, stand, on: reactor)
      try await client.wait("100 answers", on: reactor) { $0.answered.count == 150 }
      return findings
    },
    client: { stand, reactor in
      stand.registerSlowToken(delayMilliseconds: 150)
      let scene = try await ClientScene.begin(stand, on: reactor)
      try scene.pushes.start(50, to: ClientScene.slowToken, on: reactor)
      guard await stand.simulator.waitForPushes(51, within: .seconds(10)) else { throw CaseFailure("not 50 pushes") }
      scene.strike(.announceStreams(1))
      try await scene.pushes.finish(on: reactor)
      try await scene.pushes.send(5, to: scene.token, on: reactor)
      scene.expectAllAcceptedOnce()
      let summaries = stand.simulator.connections.open
      scene.findings.expect(summaries.allSatisfy { $0.refusedStreams == 0 }, "it went over the limit: \(summaries)")
      scene.findings.expect(scene.connectionsOpened == 1, "\(scene.connectionsOpened) connections")
      return scene.findings
    })
}
