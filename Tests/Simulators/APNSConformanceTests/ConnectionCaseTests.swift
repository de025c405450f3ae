import APNSSimulation
import TestAPNSCases
import Testing

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
