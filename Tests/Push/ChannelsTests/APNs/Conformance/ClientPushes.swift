import APNSSimulation
import Channels
import PushRules
import Reactors
import TestAPNSCases

/// Pushes of our client under way, and what became of them.
final class ClientPushes {
  private let client: APNSClient
  /// For a push that a dead connection holds up, too.
  private let limit = Duration.seconds(20)
  private var sent = 0
  private let changed = Signal()
  /// By number, from 0 in the order of sending.
  private(set) var attempts: [Int: PushAttempt] = [:]
  /// The identifier of each push, by its number.
  private(set) var identifiers: [String] = []

  init(_ client: APNSClient) {
    self.client = client
  }

  /// Starts so many pushes at once.
  func start(_ count: Int = 1, to token: String, on reactor: isolated Reactor) throws {
    for _ in 0..<count {
      let number = sent
      let request = try Self.request(number, to: token)
      identifiers.append(request.head.identifier.text)
      sent += 1
      reactor.start { [self] in
        attempts[number] = await client.send(
          request, to: .production, until: Reactor.now &+ limit.clampedNanoseconds, on: reactor)
        changed.signal(on: reactor)
      }
    }
  }

  /// Waits until every push has its end.
  func finish(within limit: Duration = .seconds(25), on reactor: isolated Reactor) async throws {
    while attempts.count < sent {
      guard await changed.wait(for: limit, on: reactor) else { throw CaseFailure("\(attempts.count) of \(sent) ended") }
    }
  }

  /// The same for so many pushes at once.
  func send(_ count: Int = 1, to token: String, on reactor: isolated Reactor) async throws {
    try start(count, to: token, on: reactor)
    try await finish(on: reactor)
  }

  var areAllAccepted: Bool { attempts.count == sent && attempts.values.allSatisfy { $0.disposition == .accepted } }

  private static func request(_ number: Int, to token: String) throws -> PushRequest {
    let token = try DeviceToken(token)
    let head = try PushRequestHead(
      deviceToken: token, pushType: .alert, bundleIdentifier: try BundleIdentifier("com.example.app"),
      priority: .immediate, expiration: .attemptOnce,
      identifier: PushIdentifier(eventKind: "case", event: "\(number)", recipient: "r", deviceToken: token),
      collapseIdentifier: try CollapseIdentifier("collapse-\(number)"))
    return try PushRequest(head: head, body: Array(#"{"aps":{"alert":"\#(number)"}}"#.utf8))
  }
}

/// A connection case as our client lives through it.
struct ClientScene {
  /// A token whose answers take their time.
  static let slowToken = "f0f0"

  let stand: Stand
  let client: APNSClient
  let pushes: ClientPushes
  let token: String
  let findings = Findings()

  /// A client that has had one push accepted, as far as the service allows it.
  static func begin(_ stand: Stand, on reactor: isolated Reactor) async throws -> ClientScene {
    let client = try await stand.client(on: reactor)
    let scene = ClientScene(
      stand: stand, client: client, pushes: ClientPushes(client), token: try stand.fixtures.deviceToken("ok"))
    try await scene.pushes.send(to: scene.token, on: reactor)
    guard scene.pushes.areAllAccepted else { throw CaseFailure("the first push: \(scene.pushes.attempts)") }
    return scene
  }

  var connectionsOpened: Int { client.connectionsOpened(to: .production) }

  /// Waits until the client has seen that its connection ends, which shows in the next one. Looks every few
  /// milliseconds: the client has no signal for it.
  func waitForConnection(_ count: Int, on reactor: isolated Reactor) async throws {
    let deadline = ContinuousClock.now + .seconds(10)
    while connectionsOpened < count {
      guard ContinuousClock.now < deadline else { throw CaseFailure("no connection number \(count)") }
      await reactor.sleep(for: .milliseconds(5))
    }
  }

  /// How often the service judged each push, by number.
  var arrivals: [Int] {
    let counts = stand.records.reduce(into: [:]) { $0[$1.identifier, default: 0] += 1 }
    return pushes.identifiers.map { counts[$0] ?? 0 }
  }

  func expectAllAcceptedOnce() {
    findings.expect(pushes.areAllAccepted, "\(pushes.attempts)")
    findings.expect(arrivals.allSatisfy { $0 == 1 }, "arrivals \(arrivals)")
    findings.expect(Set(stand.records.map(\.identifier)).isSubset(of: pushes.identifiers), "a push changed its apns-id")
  }

  func strike(_ fault: ServerFault) {
    stand.simulator.connections.strike(fault)
  }

  func script(_ fault: ServerFault, skip: Int = 0) {
    stand.script(fault, skip: skip)
  }
}

extension Stand {
  func script(_ fault: ServerFault, skip: Int = 0) {
    service.withFaults { script in _ = script.append(.init(fault, skip: skip)) }
  }

  func registerSlowToken(delayMilliseconds: Int) {
    let device = RegisteredDevice(
      environment: .production, bundle: "com.example.app", delayMilliseconds: delayMilliseconds)
    service.withRegistry { registry in _ = registry.register(device, token: ClientScene.slowToken) }
  }
}
