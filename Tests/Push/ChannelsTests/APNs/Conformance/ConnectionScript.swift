import APNSSimulation
import Reactors
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
