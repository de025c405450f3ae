import Cryptography
import Foundation
import Simulators
import Testing

@testable import PushRules

@Suite("Payloads before the simulator's judge")
struct JudgedPayloadTests {
  @Test("the samples are of every push type")
  func complete() throws {
    #expect(try Set(PayloadSamples.all().map(\.pushType)) == Set(PushType.allCases))
  }

  @Test("every payload with every priority of its type is accepted, and nothing about it is noticed")
  func accepted() throws {
    var judge = try PayloadJudge()
    for payload in try PayloadSamples.all() {
      for priority in payload.pushType.allowedPriorities {
        let verdict = judge.verdict(on: try judge.request(payload, priority: priority))
        #expect(verdict.status == 200 && verdict.findings.isEmpty, "\(payload): \(verdict)")
        #expect(verdict.push.pushType?.rawValue == payload.pushType.rawValue)
        #expect(verdict.push.priority == priority.rawValue)
      }
    }
  }

  @Test("the usual fields of every push type are accepted", arguments: PushType.allCases)
  func usual(type: PushType) throws {
    var judge = try PayloadJudge()
    for payload in try PayloadSamples.all().filter({ $0.pushType == type }) {
      let verdict = judge.verdict(on: try judge.request(payload))
      #expect(verdict.status == 200 && verdict.push.priority == type.usualPriority.rawValue)
      #expect(verdict.push.expirationSeconds == (type == .pushtotalk ? 0 : nil))
    }
  }

  @Test(
    "every expiration and the longest collapse identifier arrive as they were meant",
    arguments: [
      (PushExpiration.attemptOnce, Int64?(0)), (.until(unixSeconds: 1_790_003_600), 1_790_003_600),
      (.until(unixSeconds: -1), 0), (.until(unixSeconds: .max), .max), (.servicePolicy, nil),
    ])
  func fields(expiration: PushExpiration, seconds: Int64?) throws {
    var judge = try PayloadJudge()
    let collapseIdentifier = try CollapseIdentifier(String(repeating: "c", count: 64))
    let request = try judge.request(
      AlertPayload(title: "t"), expiration: expiration, collapseIdentifier: collapseIdentifier)
    let verdict = judge.verdict(on: request)
    #expect(verdict.status == 200 && verdict.identifier == request.head.identifier.text)
    #expect(verdict.push.expirationSeconds == seconds && verdict.push.collapseID == collapseIdentifier.text)
  }

  @Test("an alert cut to the limit is accepted; so is each recipient's document")
  func fitted() throws {
    var judge = try PayloadJudge()
    for letter in ["a", "é", "漢", "👨‍👩‍👧‍👦", "🇩🇪", "\"", "\u{1}"] {
      let words = AlertText.verbatim(String(repeating: letter, count: 5_000))
      let alert = try AlertPayload(title: "t", body: words, badge: .max, sound: "default").fitted(to: 4_096)
      #expect(alert.body != words)
      let request = try judge.request(alert)
      let prepared = try PushRequest(head: request.head, body: PreparedAlert(alert).encoded(badge: 1))
      for push in [request, prepared] {
        let verdict = judge.verdict(on: push)
        #expect(verdict.status == 200 && verdict.findings.isEmpty)
      }
    }
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
  mutating func verdict(on push: PushRequest) -> PushVerdict {
    let request = InspectedRequest(
      method: "POST", path: push.head.path, fields: push.head.fields + [(name: "authorization", value: authorization)],
      body: push.body)
    return judge.judge(request, binding: &binding, registry: &registry, now: Self.now)
  }

  /// A push of a payload with the push type's usual fields, unless others are given.
  func request(
    _ payload: some PushPayload, priority: PushPriority? = nil, expiration: PushExpiration? = nil,
    collapseIdentifier: CollapseIdentifier? = nil
  ) throws -> PushRequest {
    try PushRequest(
      payload, to: deviceToken, of: BundleIdentifier(Self.bundle), priority: priority, expiration: expiration,
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
  static func all() throws -> [any PushPayload] {
    try alerts() + liveActivities() + customs() + [
      try BackgroundPayload(), try BackgroundPayload(custom: ["sync": true]),
      SampleDocument(.widgets, #"{"aps":{"content-changed":true}}"#),
      SampleDocument(.controls, #"{"aps":{"content-changed":true}}"#),
      SampleDocument(.mdm, #"{"mdm":"6B8A4F5C-1D2E-4F3A-9B8C-7D6E5F4A3B2C"}"#),
    ]
  }

  private static func alerts() throws -> [any PushPayload] {
    [
      try AlertPayload(title: "t"), try AlertPayload(badge: 0), try AlertPayload(sound: "default"),
      try AlertPayload(
        title: .localized(key: "TITLE"), subtitle: .localized(key: "SUBTITLE", arguments: ["s"]),
        body: .localized(key: "BODY", arguments: ["a", "b"]), sound: "urgent.caf"),
      try AlertPayload(
        title: "Message from Ana", subtitle: "Choir", body: "Hi \"you\"\n👨‍👩‍👧‍👦", badge: 3,
        sound: "default", threadIdentifier: "c-1", category: "MESSAGE", interruptionLevel: .timeSensitive,
        relevanceScore: UnitFraction(0.5), runsServiceExtension: true,
        custom: ["image": "https://example.com/i.png", "list": .array([1])]),
    ]
  }

  private static func liveActivities() throws -> [any PushPayload] {
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

  private static func customs() -> [any PushPayload] {
    let types: [PushType] = [.complication, .fileprovider, .location, .pushtotalk, .voip]
    return types.flatMap { type in
      [SampleDocument(type, "{}"), SampleDocument(type, #"{"caller":"Ana","nested":{"k":null}}"#)]
    }
  }
}

/// A document of a push type that the service itself never sends.
private struct SampleDocument: PushPayload {
  let pushType: PushType
  private let text: String

  init(_ pushType: PushType, _ text: String) {
    self.pushType = pushType
    self.text = text
  }

  func encoded() -> [UInt8] { Array(text.utf8) }
}
