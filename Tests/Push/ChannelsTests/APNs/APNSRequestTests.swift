import Cryptography
import Foundation
import Simulators
import Testing

@testable import Channels
@testable import PushRules

@Suite("Requests to APNs before the simulator's judge")
struct APNSRequestTests {
  @Test("every payload is accepted with the usual fields and with every priority of its type, and nothing is noticed")
  func accepted() throws {
    var judge = try PayloadJudge()
    let samples = try PayloadSamples.all()
    #expect(Set(samples.map(\.pushType)) == Set(PushType.allCases))
    for payload in samples {
      let allowed: [PushPriority?] = PushPriority.allCases.filter { payload.pushType.allows($0) }
      for priority in [nil] + allowed {
        let verdict = judge.verdict(on: try judge.request(payload, priority: priority))
        #expect(verdict.status == 200 && verdict.findings.isEmpty, "\(payload): \(verdict)")
        #expect(verdict.push.pushType?.rawValue == payload.pushType.rawValue)
        #expect(verdict.push.priority == (priority ?? payload.pushType.usualPriority).rawValue)
      }
    }
  }

  @Test(
    "every expiration and the longest collapse identifier arrive as they were meant",
    arguments: [(0, 0), (1_790_003_600, 1_790_003_600), (-1, 0), (.max, .max), (nil, nil)] as [(Int64?, Int64?)])
  func fields(expiresAt: Int64?, seconds: Int64?) throws {
    var judge = try PayloadJudge()
    let collapseIdentifier = try CollapseIdentifier(String(repeating: "c", count: 64))
    let request = try judge.request(
      .alert(AlertPayload(title: "t")), expiresAt: expiresAt, collapseIdentifier: collapseIdentifier)
    let verdict = judge.verdict(on: request)
    #expect(verdict.status == 200 && verdict.identifier == request.identifier.text)
    #expect(verdict.push.expirationSeconds == seconds && verdict.push.collapseID == collapseIdentifier.text)
  }

  @Test("an alert cut to the limit is accepted with any badge")
  func fitted() throws {
    var judge = try PayloadJudge()
    for letter in ["a", "é", "漢", "👨‍👩‍👧‍👦", "🇩🇪", "\"", "\u{1}"] {
      let words = AlertText.verbatim(String(repeating: letter, count: 5_000))
      let alert = try AlertPayload(title: "t", body: words, sound: "default")
      for badge in [nil, 1, .max] {
        let verdict = judge.verdict(on: try judge.request(.alert(alert), badge: badge))
        #expect(verdict.status == 200 && verdict.findings.isEmpty)
      }
    }
  }

  @Test("what APNs would refuse is not made", arguments: PushType.allCases)
  func refused(type: PushType) throws {
    let judge = try PayloadJudge()
    let cases: [(code: PushRequestError.Code?, bytes: Int, priority: PushPriority)] = [
      (nil, 4096, type.usualPriority), (.payloadTooLarge, 4097, type.usualPriority),
      (.payloadEmpty, 0, type.usualPriority),
      (type == .background ? .priorityNotAllowed : nil, 1, .immediate),
      (type == .alert ? nil : .priorityNotAllowed, 1, .neverWaking),
    ]
    for (code, bytes, priority) in cases {
      let body = [UInt8](repeating: UInt8(ascii: " "), count: bytes)
      do throws(PushRequestError) {
        let request = try judge.request(type, body, priority: priority)
        #expect(code == nil && request.body == body && request.priority == priority)
      } catch {
        #expect(error.code == code, "\(error)")
      }
    }
  }

  @Test("a full request has its fields in wire order, and the values of this push alone last")
  func wire() throws {
    let judge = try PayloadJudge()
    let request = try judge.request(
      .alert, [0], expiresAt: 1_790_000_000, collapseIdentifier: CollapseIdentifier("m-1"))
    #expect(request.path == "/3/device/" + String(repeating: "ab", count: 32))
    var fields: [String] = []
    request.forEachField { fields.append("\($0): \($1)\($2 ? " *" : "")") }
    #expect(
      fields == [
        "content-type: application/json", "apns-topic: com.example.app", "apns-push-type: alert", "apns-priority: 10",
        "apns-expiration: 1790000000", "apns-id: \(request.identifier.text) *", "apns-collapse-id: m-1 *",
      ])
    #expect(try judge.request(.liveactivity, [0]).topic == "com.example.app.push-type.liveactivity")
  }
}

/// The simulator's judge with one app, one device and one key.
struct PayloadJudge {
  static let bundle = "com.example.app"
  static let now = WallInstant(seconds: 1_790_000_000)

  let deviceToken: DeviceToken
  private let key = P256PrivateKey()
  private let authorization: String
  private var judge = RequestJudge(environment: .production)
  private var binding = ProviderBinding()
  private var registry = SimulationRegistry()

  init() throws {
    deviceToken = try DeviceToken(String(repeating: "ab", count: 32))
    authorization = try Self.authorization(key)
    registry.register(ProviderKey(identifier: "KEY0000001", team: "TEAM000001", publicKey: key.publicKey))
    registry.registerBundle(Self.bundle, team: "TEAM000001")
    registry.register(
      RegisteredDevice(environment: .production, bundle: Self.bundle), token: deviceToken.hexadecimal)
  }

  /// What the service would answer to a push as the client sends it.
  mutating func verdict(on push: APNSRequest) -> PushVerdict {
    var fields = [(name: "authorization", value: authorization)]
    push.forEachField { name, value, _ in fields.append((name, value)) }
    let request = InspectedRequest(method: "POST", path: push.path, fields: fields, body: push.body)
    return judge.judge(request, binding: &binding, registry: &registry, now: Self.now)
  }

  func request(
    _ payload: PushPayload, badge: Int? = nil, priority: PushPriority? = nil, expiresAt: Int64? = nil,
    collapseIdentifier: CollapseIdentifier? = nil
  ) throws(PushRequestError) -> APNSRequest {
    let body = try payload.encoded(badge: badge, logID: "01234567-89ab-cdef-0123-456789abcdef")
    return try request(
      payload.pushType, body, priority: priority, expiresAt: expiresAt, collapseIdentifier: collapseIdentifier)
  }

  func request(
    _ type: PushType, _ body: [UInt8], priority: PushPriority? = nil, expiresAt: Int64? = nil,
    collapseIdentifier: CollapseIdentifier? = nil
  ) throws(PushRequestError) -> APNSRequest {
    try APNSRequest(
      type, body, to: deviceToken, of: BundleIdentifier(Self.bundle), priority: priority, expiresAt: expiresAt,
      identifier: PushIdentifier(eventKind: "message", event: "m-1", recipient: "u-1", deviceToken: deviceToken),
      collapseIdentifier: collapseIdentifier)
  }

  private static func authorization(_ key: P256PrivateKey) throws -> String {
    let header = Base64URL.encode(#"{"alg":"ES256","kid":"KEY0000001"}"#.utf8)
    let claims = Base64URL.encode(#"{"iss":"TEAM000001","iat":\#(now.seconds)}"#.utf8)
    let signature = try key.sign(Array("\(header).\(claims)".utf8))
    return "bearer \(header).\(claims).\(Base64URL.encode(signature.raw))"
  }
}

/// Payloads of every push type: bare ones, and ones with all that they can hold.
enum PayloadSamples {
  static func all() throws -> [PushPayload] {
    try alerts().map { .alert($0) } + liveActivities().map { .liveActivity($0) } + [
      .background([:]), .background(["sync": true, "badge": .null]),
    ]
  }

  private static func alerts() throws -> [AlertPayload] {
    [
      try AlertPayload(title: "t"), try AlertPayload(sound: "default"),
      try AlertPayload(
        title: .localized(key: "TITLE"), subtitle: .localized(key: "SUBTITLE", arguments: ["s"]),
        body: .localized(key: "BODY", arguments: ["a", "b"]), sound: "urgent.caf"),
      try AlertPayload(
        title: "Message from Ana", subtitle: "Choir", body: "Hi \"you\"\n👨‍👩‍👧‍👦", sound: "default",
        threadIdentifier: "c-1", category: "MESSAGE", interruptionLevel: .timeSensitive,
        relevanceScore: UnitFraction(0.5), runsServiceExtension: true,
        custom: ["image": "https://example.com/i.png", "list": .array([1])]),
    ]
  }

  private static func liveActivities() throws -> [LiveActivityPayload] {
    let alert = try LiveActivityAlert(title: "t", body: .localized(key: "B", arguments: ["1"]), sound: "default")
    let starts = [false, true].map { asksForToken in
      LiveActivityPayload.Event.start(
        LiveActivityStart(
          attributesType: "WorkoutAttributes", attributes: ["kind": "rowing"], asksForToken: asksForToken, alert: alert)
      )
    }
    let events = starts + [.update, .end(), .end(dismissalDate: 1_790_000_030)]
    return try events.flatMap { event in
      [
        try LiveActivityPayload(timestamp: 1_790_000_000, event: event, contentState: [:]),
        try LiveActivityPayload(
          timestamp: 1_790_000_000, event: event, contentState: ["elapsed": 60, "rate": .number(1.5)],
          staleDate: 1_790_001_800, relevanceScore: 100, alert: alert),
      ]
    }
  }
}
