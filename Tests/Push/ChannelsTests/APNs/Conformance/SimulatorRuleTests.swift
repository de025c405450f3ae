import APNSSimulation
import HTTP2
import Reactors
import TestAPNSCases
import Testing

@Suite("Rules of the simulator that only a misbehaving client meets")
struct SimulatorRuleTests {
  @Test("a limit that is only announced refuses nobody")
  func announcedLimit() async throws {
    try await Stand.run(.ofCases, { $0.streams.refusesExcess = false }) { stand, reactor in
      let client = try await stand.frameClient(on: reactor)
      try await ConnectionScript.open(5, client, stand, on: reactor)
      try await client.wait("five answers", on: reactor) { $0.answered == [1, 3, 5, 7, 9] }
      #expect(client.streamLimits.first == 1 && client.resets.isEmpty)
    }
  }

  @Test("a certificate has proved itself with the handshake: its connection starts with all streams")
  func certificateStreams() async throws {
    try await Stand.run(.ofCases) { stand, reactor in
      let client = try await stand.frameClient(certificate: "single", on: reactor)
      try await client.catchUp(on: reactor)
      #expect(client.streamLimits.last == 1000 && client.goAways.isEmpty)
    }
  }

  @Test("a certificate that nobody registered is refused with each push")
  func unknownCertificate() async throws {
    try await Stand.run(.ofCases) { stand, reactor in
      let stranger = try CertificateAuthority(name: "A stranger").issue(for: ["client"])
      let context = try TLSContext(
        trusting: .systemAnd(.text(stand.simulator.certificateAuthority ?? "")), presenting: stranger,
        protocols: ["h2"])
      let client = try await FrameClient.connect(port: stand.port(), context: context, on: reactor)
      let answer = try await client.answer(to: stand.request().inspected, on: reactor)
      #expect(answer.status == 403)
      #expect(String(decoding: answer.body, as: UTF8.self) == #"{"reason":"BadCertificate"}"#)
    }
  }

  @Test("streams over the limit are counted for the connection that opened them")
  func refusalsAreCounted() async throws {
    try await Stand.run(.ofCases) { stand, reactor in
      let greedy = try await stand.frameClient(on: reactor)
      try await ConnectionScript.open(3, greedy, stand, on: reactor)
      try await greedy.wait("refusals", on: reactor) { $0.answered == [1] && $0.resets.count == 2 }
      let modest = try await stand.frameClient(on: reactor)
      _ = try await modest.answer(to: stand.request().inspected, on: reactor)
      _ = try await greedy.answer(to: stand.request().inspected, on: reactor)
      #expect(stand.simulator.connections.open.map(\.refusedStreams) == [2, 0])
    }
  }
}
