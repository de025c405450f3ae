import Cryptography
import HTTPTransfers
import HTTPTypes
import PushRules
import Reactors
import TestLogs
import Testing
import WebPushSimulation

@testable import Channels

/// The stand-in on one reactor, and the client on another.
struct PushStand {
  let simulator: WebPushSimulator
  let signer: VAPIDSigner
  let client: ReactorBound<WebPushClient>
  /// Sends requests that the client never would.
  let raw: ReactorBound<HTTPTransferClient>
  let hosts: WebPushHosts

  var service: SimulatedPushService { simulator.service }
  var origin: String { service.origin }

  static func run(
    clock: (@Sendable () -> Int64)? = nil, hosts: ((String) -> String)? = nil, trustsSimulator: Bool = true,
    _ configure: (inout WebPushClientConfiguration) -> Void = { _ in },
    _ test: (PushStand) async throws -> Void
  ) async throws {
    let group = try ReactorGroup(count: 2)
    var settings = WebPushSimulatorConfiguration()
    settings.logger = RunLogs.logger
    let simulator = try await WebPushSimulator.start(settings, on: group.reactors[0])
    var configuration = WebPushClientConfiguration()
    if trustsSimulator { configuration.trust = .only(simulator.certificateAuthority ?? "") }
    configure(&configuration)
    let address = "\(simulator.address)"
    let stand = try await make(
      simulator, configuration, clock, WebPushHosts(parsing: hosts?(address) ?? address), on: group.reactors[1])
    let result: Result<Void, any Error>
    do {
      result = .success(try await test(stand))
    } catch {
      result = .failure(error)
    }
    await stand.client.perform { $0.close(on: $1) }
    await stand.raw.perform { $0.close(on: $1) }
    await simulator.stop()
    #expect(await group.reactors[1].pendingTimers == 0)
    await group.stop()
    try result.get()
  }

  private static func make(
    _ simulator: WebPushSimulator, _ configuration: WebPushClientConfiguration, _ clock: (@Sendable () -> Int64)?,
    _ hosts: WebPushHosts, on reactor: Reactor
  ) async throws -> PushStand {
    let signer = VAPIDSigner(
      key: P256PrivateKey(), subject: try VAPIDSubject("mailto:ops@example.test"), clock: clock)
    let client = try await reactor.perform {
      ReactorBound(WebPushClient(configuration, signer: signer, on: $0), on: $0)
    }
    var transfers = HTTPTransferConfiguration()
    transfers.trust = .only(simulator.certificateAuthority ?? "")
    let raw = try await reactor.perform { [transfers] in ReactorBound(HTTPTransferClient(transfers, on: $0), on: $0) }
    return PushStand(simulator: simulator, signer: signer, client: client, raw: raw, hosts: hosts)
  }

  /// A browser's subscription at the stand-in, as the application server knows it.
  func subscribe(
    _ identifier: String = "sub-ok", face: PushServiceFace = .mozilla, state: SimulatedSubscription.State = .active,
    madeWith key: String? = nil, stored: String? = nil
  ) throws -> WebPushSubscription {
    let simulated = SimulatedSubscription(
      identifier: identifier, serverKey: key ?? signer.publicKeyText, face: face, state: state)
    service.add(simulated)
    return WebPushSubscription(
      endpoint: try WebPushEndpoint(service.endpoint(of: simulated), among: hosts),
      keys: try WebPushKeys(p256dh: simulated.p256dh, auth: simulated.auth),
      serverKey: stored ?? signer.publicKeyText)
  }

  func send(
    _ content: String? = "hello", to subscription: WebPushSubscription,
    urgency: WebPushRequest.Urgency = .normal, timeToLive: Int64 = 60, topic: WebPushTopic? = nil,
    within limit: Duration = .seconds(20)
  ) async throws -> DeliveryAttempt {
    let push = try WebPushRequest(
      content: content.map { Array($0.utf8) }, urgency: urgency, timeToLiveSeconds: timeToLive, topic: topic)
    let deadline = Reactor.now + UInt64(limit / .nanoseconds(1))
    return await client.perform { await $0.send(push, to: subscription, until: deadline, on: $1) }
  }
}
