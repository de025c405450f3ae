import Cryptography
import Foundation
import HTTPTransfers
import HTTPTypes
import PushRules
import Reactors
import Simulators
import TestLogs
import Testing
import Yams

@testable import Channels

@Suite("The list of Web Push cases", .timeLimit(.minutes(5)))
struct WebPushCaseTests {
  @Test("the list has sixteen cases")
  func count() {
    #expect(WebPushCase.all.map(\.id) == (1...16).map { $0 < 10 ? "W0\($0)" : "W\($0)" })
  }

  @Test("Apple's face answers each case as listed, and the sender acts as listed", arguments: WebPushCase.all)
  func apple(_ listed: WebPushCase) async throws {
    let response = try await Self.play(listed, face: .apple)
    let expected = [listed.exp] + (listed.accept_also ?? [])
    #expect(expected.map(\.status).contains(response.status.code))
    let answer = WebPushAnswer(status: response.status.code, fields: response.fields, body: response.body, now: 0)
    if let reason = listed.exp.apple_reason { #expect(answer.reason == reason) }
    for (name, value) in listed.exp.headers ?? [:] { #expect(response.fields[HTTPField.Name(name)!] == value) }
    for name in listed.exp.headers_present ?? [] { #expect(response.fields[HTTPField.Name(name)!] != nil) }
    #expect(Self.clientCode(listed, response) == listed.client)
  }

  @Test(
    "the sender acts the same whichever service answers",
    arguments: [PushServiceFace.mozilla, .fcm, .wns].flatMap { face in WebPushCase.all.map { (face, $0) } })
  func others(_ face: PushServiceFace, _ listed: WebPushCase) async throws {
    // Windows takes up to 5000 bytes.
    if face == .wns, listed.id == "W13" { return }
    #expect(Self.clientCode(listed, try await Self.play(listed, face: face)) == listed.client)
  }

  /// Sends the request of a case to a stand-in in the state that its path names.
  private static func play(_ listed: WebPushCase, face: PushServiceFace) async throws -> HTTPTransferResponse {
    var response: HTTPTransferResponse?
    try await PushStand.run { stand in
      let key = P256PrivateKey()
      let identifier = String((listed.req.path ?? "/push/sub-ok").dropFirst("/push/".count))
      let state: SimulatedSubscription.State =
        switch identifier {
        case "sub-expired": .expired
        case "sub-gone": .gone
        default: .active
        }
      let subscription = try stand.subscribe(
        identifier, face: face, state: state, madeWith: Base64URL.encode(key.publicKey.x963))
      if identifier == "sub-busy" {
        stand.service.arrange(PushFault(.answer, status: 429, fields: ["retry-after": "30"]))
      }
      if identifier == "sub-500" { stand.service.arrange(PushFault(.answer, status: 500)) }
      let request = HTTPTransferRequest(
        .post, url: subscription.endpoint.url, fields: try fields(listed, key, origin: stand.origin),
        body: try body(listed, for: subscription.keys), deadline: .seconds(20))
      response = await stand.raw.perform { client, reactor in try? await client.send(request, on: reactor) }
    }
    return try #require(response)
  }

  private static func fields(_ listed: WebPushCase, _ key: P256PrivateKey, origin: String) throws -> HTTPFields {
    var texts: [String: String?] = [
      "ttl": "60", "urgency": "normal", "content-encoding": "aes128gcm", "content-type": "application/octet-stream",
    ]
    for (name, value) in listed.req.headers ?? [:] { texts.updateValue(value, forKey: name) }
    var fields = HTTPFields()
    for (name, value) in texts { fields[HTTPField.Name(name)!] = value }
    guard !listed.req.isWithoutVAPID else { return fields }
    let signing = listed.req.vapid?.key == "another_key" ? P256PrivateKey() : key
    let end = Int64(Date().timeIntervalSince1970) + expirationOffset(listed)
    let claims =
      #"{"aud":"\#(listed.req.vapid?.aud ?? origin)","exp":\#(end),"sub":"mailto:ops@example.test"}"#
    let signed = Base64URL.encode(#"{"typ":"JWT","alg":"ES256"}"#.utf8) + "." + Base64URL.encode(claims.utf8)
    let signature = Base64URL.encode(try signing.sign(Array(signed.utf8)).raw)
    fields[.authorization] = "vapid t=\(signed).\(signature), k=\(Base64URL.encode(signing.publicKey.x963))"
    return fields
  }

  private static func expirationOffset(_ listed: WebPushCase) -> Int64 {
    listed.req.vapid?.exp_offset_s ?? VAPIDSigner.lifetime
  }

  /// An encrypted body of the size in the list; a byte more than the largest has no encryption.
  private static func body(_ listed: WebPushCase, for keys: WebPushKeys) throws -> [UInt8] {
    guard let count = listed.req.encryptedBytes else {
      return try WebPushEncryption.encrypt(Array("hello".utf8), for: keys)
    }
    let whole = min(count, 4096)
    let content = [UInt8](repeating: 0x7A, count: whole - 103)
    return try WebPushEncryption.encrypt(content, for: keys) + [UInt8](repeating: 0, count: count - whole)
  }

  /// What the sender does, in the words of the list. A token's age follows from its end.
  private static func clientCode(_ listed: WebPushCase, _ response: HTTPTransferResponse) -> String {
    let answer = WebPushAnswer(status: response.status.code, fields: response.fields, body: response.body, now: 0)
    let age = VAPIDSigner.lifetime - expirationOffset(listed)
    let sent = WebPushAnswer.Sent(hasOtherKey: false, mayRenewToken: age >= VAPIDSigner.replacementAge)
    return switch answer.attempt(sent).disposition {
    case .accepted: "DONE"
    case .fixRequest: "FIX-REQ"
    case .fixCredentials: "FIX-CRED"
    case .refreshProviderToken: "REFRESH"
    case .dropToken: "DROP"
    case .never: "NEVER"
    case .retryLater: "LATER"
    case .suspectToken, .reconnect: "OTHER"
    }
  }
}

/// One case of the list: a request, the service's answer, and what a sender makes of it.
struct WebPushCase: Decodable, Sendable, CustomStringConvertible {
  struct Expectation: Decodable, Sendable {
    let status: Int
    let apple_reason: String?
    let headers: [String: String]?
    let headers_present: [String]?
  }

  struct Request: Decodable, Sendable {
    /// Nil for none in the list; a nil value removes a field.
    let headers: [String: String?]?
    let path: String?
    let vapid: VAPID?
    let isWithoutVAPID: Bool
    let encryptedBytes: Int?

    private enum CodingKeys: String, CodingKey {
      case headers, path, vapid, body
    }

    private struct Body: Decodable {
      let encrypted_total_bytes: Int?
    }

    private struct Value: Decodable {
      let text: String

      private struct Repeated: Decodable {
        let unit: String
        let times: Int
      }

      init(from decoder: any Decoder) throws {
        let repeated = try? Repeated(from: decoder)
        text =
          try repeated.map { String(repeating: $0.unit, count: $0.times) }
          ?? decoder.singleValueContainer().decode(String.self)
      }
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      headers = try values.decodeIfPresent([String: Value?].self, forKey: .headers)?.mapValues { $0?.text }
      path = try values.decodeIfPresent(String.self, forKey: .path)
      vapid = try values.decodeIfPresent(VAPID.self, forKey: .vapid)
      isWithoutVAPID = values.contains(.vapid) && vapid == nil
      encryptedBytes = try values.decodeIfPresent(Body.self, forKey: .body)?.encrypted_total_bytes
    }
  }

  struct VAPID: Decodable, Sendable {
    let aud: String?
    let exp_offset_s: Int64?
    let key: String?
  }

  let id: String
  let title: String
  let req: Request
  let exp: Expectation
  let accept_also: [Expectation]?
  let client: String

  var description: String { "\(id) \(title)" }

  private struct List: Decodable {
    let webpush_cases: [WebPushCase]
  }

  static let all: [WebPushCase] = {
    let url = Bundle.module.url(forResource: "web-push-cases", withExtension: "yaml")!
    return try! YAMLDecoder().decode(List.self, from: Data(contentsOf: url)).webpush_cases
  }()
}

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
      to: subscription, content: content.map { Array($0.utf8) }, urgency: urgency, timeToLiveSeconds: timeToLive,
      topic: topic)
    let deadline = Reactor.now + UInt64(limit / .nanoseconds(1))
    return await client.perform { await $0.send(push, until: deadline, on: $1) }
  }
}
