import APNSSimulation
import Channels
import HTTP2
import PushRules
import Reactors
import TestAPNSCases

/// Connections that may be dead.
extension ConnectionScript {
  static let liveness: [String: ConnectionScript] = ["K11": acknowledged, "K12": halfOpen]

  private static let acknowledged = ConnectionScript(
    wire: { stand, reactor in
      let findings = Findings()
      let client = try await stand.frameClient(on: reactor)
      try await client.catchUp(on: reactor)
      findings.expect(client.acknowledgedPings == 1, "\(client.acknowledgedPings) acknowledgements")
      return findings
    },
    // A slow answer, behind several of its PINGs: acknowledged, they keep the connection.
    client: { stand, reactor in
      let findings = Findings()
      stand.registerSlowToken(delayMilliseconds: 600)
      let outcome = try await impatientOutcome(stand, on: reactor)
      if case .response(let response) = outcome {
        findings.expect(response.status == 200, "\(response.status)")
      } else {
        findings.expect(false, "\(outcome)")
      }
      return findings
    })

  private static let halfOpen = ConnectionScript(
    wire: { stand, reactor in
      let findings = Findings()
      let client = try await stand.frameClient(on: reactor)
      stand.script(.ignorePings)
      _ = try await client.answer(to: stand.request().inspected, on: reactor)
      client.put(Frame.ping)
      let later = try await client.answer(to: stand.request().inspected, on: reactor)
      findings.expect(later.status == 200, "answered \(later.status)")
      findings.expect(client.acknowledgedPings == 0, "the PING before it was acknowledged")
      return findings
    },
    // The push on the dead connection is of unknown fate; the next one goes to a new connection.
    client: { stand, reactor in
      let scene = try await ClientScene.begin(stand, on: reactor)
      scene.script(.silence)
      try await scene.pushes.send(to: scene.token, on: reactor)
      scene.findings.expect(scene.pushes.attempts[1]?.isUnknown == true, "\(scene.pushes.attempts)")
      try await scene.pushes.send(to: scene.token, on: reactor)
      scene.findings.expect(scene.pushes.attempts[2]?.disposition == .accepted, "\(scene.pushes.attempts)")
      scene.findings.expect(scene.connectionsOpened == 2, "\(scene.connectionsOpened) connections")
      scene.findings.expect(scene.arrivals == [1, 0, 1], "arrivals \(scene.arrivals)")
      return scene.findings
    })

  /// One push to the slow token over our HTTP/2, by a client that asks soon and waits briefly.
  private static func impatientOutcome(_ stand: Stand, on reactor: isolated Reactor) async throws -> HTTP2Outcome {
    var configuration = HTTP2ClientConfiguration()
    configuration.silenceBeforePing = .milliseconds(50)
    configuration.pingTimeout = .milliseconds(300)
    let connection = try await HTTP2Connection.connect(
      host: "127.0.0.1", port: stand.port(), context: stand.context(), configuration: configuration,
      within: .seconds(10), on: reactor)
    let request = try stand.request(["path": "/3/device/\(ClientScene.slowToken)"]).inspected
    return await connection.send(HTTP2Request(request), within: .seconds(10), on: reactor)
  }
}
