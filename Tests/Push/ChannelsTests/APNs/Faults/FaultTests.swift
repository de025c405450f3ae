import Channels
import Cryptography
import Logging
import PushRules
import Reactors
import Simulators
import TestProcesses
import TestReactors
import Testing

@Suite("The client among faults")
struct FaultTests {
  @Test(
    "whatever happens to connections and streams, each push is shown once, under one identifier",
    arguments: FaultCase.all)
  func outcome(of fault: FaultCase) async throws {
    try await FaultScene.play(delayMilliseconds: fault.delayMilliseconds) { scene, reactor in
      fault.arrange(scene)
      let client = try await scene.client()
      client.warmUp(.production, on: reactor)
      let campaign = Campaign(scene, over: client, attemptLimit: fault.requestLimit)
      campaign.start(FaultCase.pushes, atOnce: FaultCase.width, on: reactor)
      #expect(await scene.service.waitForPushes(FaultCase.pushes / 3, within: .seconds(60), on: reactor))
      try await fault.strike(scene, client, reactor)
      await campaign.finished(FaultCase.pushes, on: reactor)
      let tally = FaultTally(fault.name, pushes: FaultCase.pushes, of: scene)
      print(tally)
      #expect(campaign.acceptances.count == FaultCase.pushes)
      #expect(tally.lost == 0)
      #expect(tally.renamed == 0)
      #expect(fault.connections.contains(tally.connections))
      #expect(fault.resends.contains(tally.attempts - tally.pushes))
      client.close(on: reactor)
    }
  }
}

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
    FaultCase(name: "requests that are never answered", connections: 1...1, resends: 3...3, requestLimit: .seconds(3)) {
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

/// A running simulator with a key, an app and ten devices, and clients for it.
struct FaultScene: Sendable {
  private static let bundle = "com.example.app"
  private static let deviceCount = 10

  let simulator: APNSSimulator
  let address: SocketAddress
  private let key: P256PrivateKey

  var service: SimulatedService { simulator.service }

  /// Runs a test on a reactor of its own, and stops everything afterwards.
  /// - Parameter delayMilliseconds: what each answer takes, so that many pushes are under way when a fault strikes.
  static func play(
    delayMilliseconds: Int = 2,
    _ body: @escaping @Sendable (FaultScene, isolated Reactor) async throws -> Void
  ) async throws {
    let scene = try await FaultScene(delayMilliseconds: delayMilliseconds)
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await onReactor { reactor in try await body(scene, reactor) })
    } catch {
      outcome = .failure(error)
    }
    await scene.simulator.stop()
    try outcome.get()
  }

  private init(delayMilliseconds: Int) async throws {
    key = P256PrivateKey()
    var configuration = APNSSimulatorConfiguration()
    configuration.listeners = [
      .production: try #require(SocketAddress(numericHost: "127.0.0.1", port: reservedPort()))
    ]
    configuration.registry.register(
      ProviderKey(identifier: "KEY0000001", team: "TEAM000001", publicKey: key.publicKey))
    configuration.registry.registerBundle(Self.bundle, team: "TEAM000001")
    for device in 0..<Self.deviceCount {
      configuration.registry.register(
        RegisteredDevice(environment: .production, bundle: Self.bundle, delayMilliseconds: delayMilliseconds),
        token: Self.deviceToken(ofPush: device))
    }
    simulator = try APNSSimulator(configuration)
    address = try #require(try await simulator.start().listeners[.production])
  }

  /// A client for the simulator, or for a relay in front of it.
  func client(
    port: UInt16? = nil, configure: (inout APNSConfiguration) -> Void = { _ in }
  ) async throws -> APNSClient {
    var configuration = APNSConfiguration()
    configure(&configuration)
    let authority = try #require(simulator.certificateAuthority)
    let credentials = try ProviderCredentials(
      keyIdentifier: "KEY0000001", teamIdentifier: "TEAM000001", privateKey: key.pem)
    return APNSClient(
      endpoints: [.production: APNSEndpoint(host: "127.0.0.1", port: port ?? address.port)],
      context: try TLSContext(trusting: .systemAnd(.text(authority)), protocols: ["h2"]),
      tokens: try ProviderTokenSource(credentials), configuration: configuration,
      logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
  }

  /// The push of this number, to one of the devices: a line of its own there.
  func push(_ number: Int) throws -> APNSRequest {
    let token = try DeviceToken(Self.deviceToken(ofPush: number))
    return try APNSRequest(
      .alert, Array(#"{"aps":{"alert":"push \#(number)"}}"#.utf8), to: token, of: BundleIdentifier(Self.bundle),
      identifier: PushIdentifier(eventKind: "message", event: "\(number)", recipient: "r", deviceToken: token),
      collapseIdentifier: CollapseIdentifier("m\(number)"))
  }

  func script(_ fault: ServerFault, skip: Int, times: Int = 1) {
    service.withFaults { script in _ = script.arrange(.init(fault, skip: skip, times: times)) }
  }

  static func deviceToken(ofPush number: Int) -> String { "a\(number % deviceCount)" }
}

/// What a run looks like from APNs' side.
struct FaultTally: CustomStringConvertible {
  let name: String
  let pushes: Int
  /// Lines on the devices' screens: each push is one, however often it was accepted.
  let shown: Int
  /// Requests that reached the server's judgement, and those that a fault swallowed before it.
  let attempts: Int
  let connections: Int
  /// Pushes that came again under another `apns-id`.
  let renamed: Int

  var lost: Int { pushes - shown }

  init(_ name: String, pushes: Int, of scene: FaultScene) {
    self.name = name
    self.pushes = pushes
    var everything = PushQuery()
    everything.limit = PushQuery.limitMax
    let (records, lines, total) = scene.service.withLog { [everything] log in
      (log.records(everything).records, log.screen.visible.count, log.total)
    }
    shown = lines
    attempts = total + scene.service.unprocessed
    connections = scene.simulator.connections.openedCount
    let identifiers = Dictionary(grouping: records, by: \.collapseID).mapValues { Set($0.map(\.identifier)).count }
    renamed = identifiers.values.count { $0 > 1 }
  }

  var description: String {
    """
    \(name): \(pushes) pushes, \(shown) accepted once on screen, \(attempts) attempts, \(connections) connections, \
    lost \(lost), resent with another apns-id \(renamed)
    """
  }
}

/// A number of pushes, sent as the pipeline does it: what was not answered, or is to be sent later, goes again under the
/// same identifiers until it is accepted.
final class Campaign {
  /// The pipeline waits for a second; the tests have less time.
  private static let resendWait = Duration.milliseconds(20)

  /// When a push counts as lost.
  private static let limit = Duration.seconds(30)

  private let scene: FaultScene
  private let client: APNSClient
  private let attemptLimit: UInt64
  private let progress = Signal()
  private var next = 0
  private var finished = 0

  /// Monotonic nanoseconds of each acceptance.
  private(set) var acceptances: [UInt64] = []
  /// Pushes that the client gave back instead of an acceptance, by reason.
  private(set) var returned: [String: Int] = [:]

  /// - Parameter attemptLimit: the time that the client has for a push before it gives it back.
  init(_ scene: FaultScene, over client: APNSClient, attemptLimit: Duration = .seconds(10)) {
    self.scene = scene
    self.client = client
    self.attemptLimit = attemptLimit.clampedNanoseconds
  }

  /// Keeps so many pushes under way until all have been sent.
  func start(_ count: Int, atOnce width: Int, on reactor: isolated Reactor) {
    for _ in 0..<width {
      reactor.start { [self] in
        while next < count { await sendNext(on: reactor) }
      }
    }
  }

  /// Sends at an even pace, whatever becomes of the pushes.
  func start(_ count: Int, every interval: Duration, on reactor: isolated Reactor) {
    reactor.start { [self] in
      let begin = ContinuousClock.now
      for number in 0..<count {
        await reactor.sleep(for: begin + interval * number - .now)
        reactor.start { await self.sendNext(on: reactor) }
      }
    }
  }

  /// Waits until so many pushes have been accepted or given up.
  func finished(_ count: Int, on reactor: isolated Reactor) async {
    while finished < count { _ = await progress.wait(for: .seconds(60), on: reactor) }
  }

  private func sendNext(on reactor: isolated Reactor) async {
    let number = next
    next += 1
    let isAccepted = await send(number, on: reactor)
    if isAccepted { acceptances.append(Reactor.now) }
    finished += 1
    progress.signal(on: reactor)
  }

  private func send(_ number: Int, on reactor: isolated Reactor) async -> Bool {
    guard let request = try? scene.push(number) else { return false }
    let end = ContinuousClock.now + Self.limit
    while ContinuousClock.now < end {
      let attempt = await client.send(
        request, to: .production, until: Reactor.now &+ attemptLimit, on: reactor)
      switch attempt.disposition {
      case .accepted: return true
      case .retryLater, .reconnect: returned[attempt.reason ?? "", default: 0] += 1
      default: return false
      }
      await reactor.sleep(for: Self.resendWait)
    }
    return false
  }
}
