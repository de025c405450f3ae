import APNSSimulation
import Channels
import PushRules
import Reactors
import TestAPNSCases

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
      stand.service.withFaults { script in _ = script.append(.init(fault, times: 100)) }
      let pushes = ClientPushes(client)
      try await pushes.send(to: try stand.fixtures.deviceToken("ok"), on: reactor)
      let disposition = pushes.attempts[0]?.disposition
      findings.expect(disposition == .fixCredentials, "the push: \(pushes.attempts)")
      findings.expect(client.connectionsOpened(to: .production) == 1, "it connects in a loop")
      return findings
    })
}
