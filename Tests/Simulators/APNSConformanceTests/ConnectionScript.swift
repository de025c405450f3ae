import APNSSimulation
import Reactors
import TestAPNSCases

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
