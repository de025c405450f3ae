import Channels
import HTTP2
import PushRules
import Reactors
import Simulators
import TestAPNSCases
import Testing

/// How a connection case is driven: once by a client that does what the case says, once by ours.
struct ConnectionScript: Sendable {
  typealias Drive = @Sendable (Stand, isolated Reactor) async throws -> Findings

  /// What the simulator is started with.
  var configure: @Sendable (inout APNSSimulatorConfiguration) -> Void = { _ in }
  /// What the wire shows.
  let wire: Drive
  /// What our client does.
  let client: Drive

  static let all: [String: ConnectionScript] = handshakes.merging(goAways, uniquingKeysWith: first)
    .merging(losses, uniquingKeysWith: first).merging(liveness, uniquingKeysWith: first)
    .merging(streams, uniquingKeysWith: first)

  private static func first(_ one: ConnectionScript, _ other: ConnectionScript) -> ConnectionScript {
    preconditionFailure("a connection case has two scripts")
  }

  /// All streams from the start, for cases that say how many are open.
  static let allStreams: @Sendable (inout APNSSimulatorConfiguration) -> Void = { configuration in
    configuration.streams.startsWithOne = false
  }

  /// Opens so many streams with one write.
  static func open(
    _ count: Int, _ client: FrameClient, _ stand: Stand, on reactor: isolated Reactor
  ) async throws {
    let request = try stand.request().inspected
    for _ in 0..<count { client.open(request) }
    try await client.flush(on: reactor)
  }
}

@Suite("Cases about connections")
struct ConnectionCaseTests {
  @Test("each is as stated on the wire, and our client does what is stated about it")
  func connections() async throws {
    let cases = try WireCase.connections()
    #expect(Set(cases.map(\.identifier)) == Set(ConnectionScript.all.keys))
    var report = CaseReport("connection")
    for wireCase in cases {
      await report.drive(wireCase) {
        guard let script = ConnectionScript.all[wireCase.identifier] else { throw CaseFailure("has no script") }
        let wire = try await Stand.run(.ofCases, script.configure) { stand, reactor in
          try await script.wire(stand, reactor).all.map { "on the wire: \($0)" }
        }
        let client = try await Stand.run(.ofClient, script.configure) { stand, reactor in
          try await script.client(stand, reactor).all.map { "our client: \($0)" }
        }
        return wire + client
      }
    }
    report.finish(expecting: 16)
  }
}

/// Connections that never come to a request.
extension ConnectionScript {
  static let handshakes: [String: ConnectionScript] = ["K01": onlyHTTP1, "K02": oldTLS, "K05": wrongCertificate]

  private static let onlyHTTP1 = ConnectionScript(
    wire: { stand, reactor in
      let findings = Findings()
      guard let address = SocketAddress(numericHost: "127.0.0.1", port: try stand.port()) else {
        throw CaseFailure("no address")
      }
      let socket = try await Socket.connect(to: address, within: .seconds(10), on: reactor)
      do throws(TLSError) {
        let context = try TLSContext(
          trusting: .systemAnd(.text(stand.simulator.certificateAuthority ?? "")), protocols: ["http/1.1"])
        _ = try await TLSStream.connect(
          over: socket, host: "127.0.0.1", context: context, within: .seconds(10), on: reactor)
        findings.expect(false, "HTTP/1.1 was agreed on")
      } catch {
        findings.expect(error.code == .protocolNotNegotiated, "\(error)")
      }
      return findings
    },
    client: { stand, reactor in
      let findings = Findings()
      let hello = try await ClientHello.sent(byClientOf: stand, on: reactor)
      findings.expect(hello.protocols == ["h2"], "offers \(hello.protocols)")
      return findings
    })

  private static let oldTLS = ConnectionScript(
    wire: { stand, reactor in
      let findings = Findings()
      let answer = try await ClientHello.answer(
        to: ClientHello.version11, port: stand.port(), on: reactor)
      // A fatal alert (21, 2), protocol_version (70), and nothing behind it: RFC 5246 §7.2.
      findings.expect(answer.first == 21 && answer.suffix(2) == [2, 70], "answered \(answer)")
      return findings
    },
    client: { stand, reactor in
      let findings = Findings()
      let hello = try await ClientHello.sent(byClientOf: stand, on: reactor)
      findings.expect(Set(hello.versions) == [0x0304, 0x0303], "offers \(hello.versions)")
      return findings
    })

  private static let wrongCertificate = ConnectionScript(
    wire: { stand, reactor in
      let findings = Findings()
      let client = try await stand.frameClient(certificate: "wrong_env", on: reactor)
      try await client.waitForClose(on: reactor)
      let expected = FrameClient.GoAway(
        lastStream: 0, code: 0, debug: #"{"reason":"BadCertificateEnvironment"}"#)
      findings.expect(client.goAways == [expected], "GOAWAY \(client.goAways)")
      return findings
    },
    // Our client has no certificates. It is told the same, as soon as it has a push under way.
    client: { stand, reactor in
      let findings = Findings()
      let client = try await stand.client(on: reactor)
      let debug = #"{"reason":"BadCertificateEnvironment"}"#
      let fault = ServerFault.goAway(lastStream: .none, code: 0, debug: debug)
      stand.service.withFaults { script in _ = script.arrange(.init(fault, times: 100)) }
      let pushes = ClientPushes(client)
      try await pushes.send(to: try stand.fixtures.deviceToken("ok"), on: reactor)
      let disposition = pushes.attempts[0]?.disposition
      findings.expect(disposition == .fixCredentials, "the push: \(pushes.attempts)")
      findings.expect(client.connectionsOpened(to: .production) == 1, "it connects in a loop")
      return findings
    })
}

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
      stand.registerSlowToken(delayMilliseconds: 2000)
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
    configuration.pingTimeout = .seconds(1)
    let connection = try await HTTP2Connection.connect(
      host: "127.0.0.1", port: stand.port(), context: stand.context(), configuration: configuration,
      within: .seconds(10), on: reactor)
    let request = try stand.request(["path": "/3/device/\(ClientScene.slowToken)"]).inspected
    return await connection.send(HTTP2Request(request), within: .seconds(10), on: reactor)
  }
}

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
      // Longer than fifty requests take on a busy machine.
      stand.registerSlowToken(delayMilliseconds: 3000)
      let client = try await stand.frameClient(on: reactor)
      let slow = try stand.request(["path": "/3/device/\(ClientScene.slowToken)"]).inspected
      for _ in 0..<50 { client.open(slow) }
      try await client.flush(on: reactor)
      guard await stand.simulator.waitForPushes(50, within: .seconds(60)) else { throw CaseFailure("not 50 requests") }
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
      guard await stand.simulator.waitForPushes(51, within: .seconds(60)) else { throw CaseFailure("not 50 pushes") }
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
