import APNSSimulation
import Channels
import PushRules
import Reactors
import Testing

/// A fault, and what it may cost.
struct FaultCase: Sendable, CustomTestStringConvertible {
  let name: String
  /// Connections that the run may open.
  let connections: ClosedRange<Int>
  /// Requests that reach the server beyond one for each push.
  let resends: ClosedRange<Int>
  /// What each answer takes.
  var delayMilliseconds = 2
  var requestLimit = Duration.seconds(10)
  /// Before the first push.
  var arrange: @Sendable (FaultScene) -> Void = { _ in }
  /// When a third of the pushes has been received.
  var strike: @Sendable (FaultScene, APNSClient, isolated Reactor) async throws -> Void = { _, _, _ in }

  var testDescription: String { name }

  /// Pushes of a run, and how many are under way at once.
  static let pushes = 300
  static let width = 50

  static let all: [FaultCase] = goodbyes + resets + losses + moods
}

extension FaultCase {
  private static let shutdown = #"{"reason":"Shutdown"}"#

  /// GOAWAY: what it does not cover goes again at once, on another connection.
  private static let goodbyes: [FaultCase] = [
    FaultCase(name: "GOAWAY mid-batch with a last id", connections: 2...2, resends: 0...0) {
      $0.script(.goAway(lastStream: .current, code: 0, debug: shutdown), skip: 100)
    },
    FaultCase(
      name: "GOAWAY in two steps", connections: 2...2, resends: 0...0,
      strike: { scene, _, _ in
        scene.simulator.connections.strike(.goAway(lastStream: .all, code: 0, debug: ""))
        scene.simulator.connections.strike(.goAway(lastStream: .current, code: 0, debug: ""))
      }),
    FaultCase(name: "GOAWAY without debug data", connections: 2...2, resends: 1...1) {
      $0.script(.goAway(lastStream: .previous, code: 0, debug: ""), skip: 100)
    },
    FaultCase(name: "GOAWAY with plain text", connections: 2...2, resends: 1...1) {
      $0.script(
        .goAway(lastStream: .previous, code: 7, debug: "Maximum active streams violated for this endpoint."),
        skip: 100)
    },
    FaultCase(name: "GOAWAY IdleTimeout under load", connections: 2...2, resends: 0...0) {
      $0.script(.goAway(lastStream: .current, code: 0, debug: #"{"reason":"IdleTimeout"}"#), skip: 100)
    },
    FaultCase(name: "GOAWAY five times", connections: 6...6, resends: 0...0) {
      for _ in 0..<5 { $0.script(.goAway(lastStream: .current, code: 0, debug: shutdown), skip: 40) }
    },
  ]

  /// Single streams: the connection goes on.
  private static let resets: [FaultCase] = [
    FaultCase(
      name: "RST_STREAM NO_ERROR, INTERNAL_ERROR, CANCEL, ENHANCE_YOUR_CALM", connections: 1...1, resends: 12...12
    ) {
      for code in [0, 2, 8, 11] as [UInt32] { $0.script(.resetStream(code: code), skip: 40, times: 3) }
    },
    FaultCase(name: "REFUSED_STREAM", connections: 1...1, resends: 20...20) {
      for _ in 0..<4 { $0.script(.refuseStream, skip: 30, times: 5) }
    },
    FaultCase(name: "requests that are never answered", connections: 1...1, resends: 3...3, requestLimit: .seconds(1)) {
      $0.script(.blackHole, skip: 100, times: 3)
    },
  ]

  /// Connections that end: what was under way is resent by the pipeline, processed or not.
  private static let losses: [FaultCase] = [
    FaultCase(name: "dropped before processing", connections: 2...2, resends: 1...width) {
      $0.script(.dropBeforeProcessing, skip: 100)
    },
    FaultCase(name: "dropped after processing", connections: 2...2, resends: 1...width) {
      $0.script(.dropAfterProcessing, skip: 100)
    },
    FaultCase(
      name: "black hole", connections: 2...2, resends: 0...width,
      strike: { scene, _, _ in scene.simulator.connections.strike(.blackHole) }),
    FaultCase(
      name: "connections refused for a while", connections: 2...2, resends: 0...width,
      strike: { scene, client, reactor in
        await scene.simulator.suspend()
        while client.failure(of: .production)?.hasPrefix("cannot connect") != true {
          await reactor.sleep(for: .milliseconds(1))
        }
        try await scene.simulator.resume()
      }),
  ]

  /// A server that works, in its way.
  private static let moods: [FaultCase] = [
    FaultCase(name: "slow answers", connections: 1...1, resends: 0...0, delayMilliseconds: 400),
    FaultCase(name: "SETTINGS lowered while streams are open", connections: 1...1, resends: 0...0) {
      $0.script(.announceStreams(1), skip: 100)
    },
    FaultCase(
      name: "503 Shutdown", connections: 2...2, resends: 1...width,
      strike: { scene, _, _ in
        scene.service.withRegistry { registry in
          let token = FaultScene.deviceToken(ofPush: 0)
          guard var device = registry.devices[token] else { return }
          device.answers = [ScriptedAnswer(status: 503, reason: "Shutdown")]
          registry.register(device, token: token)
        }
      }),
  ]
}

extension FaultCase {
  /// A fault that waits in the server's script from the start.
  private init(
    name: String, connections: ClosedRange<Int>, resends: ClosedRange<Int>, requestLimit: Duration = .seconds(10),
    arrange: @escaping @Sendable (FaultScene) -> Void
  ) {
    self.init(name: name, connections: connections, resends: resends)
    self.requestLimit = requestLimit
    self.arrange = arrange
  }
}
