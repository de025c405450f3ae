import Channels
import FoundationEssentials
import TestIDs
import Testing

@testable import PushPipeline
@testable import PushRules
@testable import PushStore

@Suite("The push of a message")
struct MessagePushTests {
  /// The document as Apple describes it; a key that is not here is an error of the test below.
  private struct Payload: Codable, Equatable {
    struct Alert: Codable, Equatable {
      var title: String
      var body: String?
    }

    struct APS: Codable, Equatable {
      var alert: Alert
      var badge: Int
      var sound: String
      var thread: String

      private enum CodingKeys: String, CodingKey {
        case alert, badge, sound
        case thread = "thread-id"
      }
    }

    var aps: APS
    var type: String
    var conversation_id: String
    var message_id: String
    var push_log_id: UUID
  }

  private func requests(for event: PushEvent) throws -> [PushRequest] {
    try event.recipients.flatMap { recipient in
      try recipient.targets.map { try #require(try PushFixtures.request(event, for: $0, to: recipient)) }
    }
  }

  @Test("the payload names the sender, begins the text, and has the recipient's badge")
  func payload() throws {
    let event = PushFixtures.event(recipients: [PushFixtures.recipient(badge: 7)])
    let request = try #require(try requests(for: event).first)
    let payload = try JSONDecoder().decode(Payload.self, from: Data(request.body))
    let expected = Payload(
      aps: Payload.APS(
        alert: Payload.Alert(title: "Message from Ann", body: "Hello"), badge: 7, sound: "default",
        thread: "abcd0000-0000-4000-8000-000000000002"),
      type: "message", conversation_id: "abcd0000-0000-4000-8000-000000000002",
      message_id: "abcd0000-0000-4000-8000-000000000003", push_log_id: event.logID(of: PushFixtures.user))
    #expect(payload == expected)
  }

  @Test("the document has these keys and no others; the priority is a header, not a key")
  func keys() throws {
    let request = try #require(try requests(for: PushFixtures.event()).first)
    let outer = try JSONDecoder().decode([String: AnyValue].self, from: Data(request.body))
    #expect(Set(outer.keys) == ["aps", "type", "conversation_id", "message_id", "push_log_id"])
    let aps = try JSONDecoder().decode(APSKeys.self, from: Data(request.body)).aps
    #expect(Set(aps.keys) == ["alert", "badge", "sound", "thread-id"])
  }

  @Test("an update of a burst replaces the first message's push, passive and without a sound, and says how many more")
  func update() throws {
    let event = PushFixtures.event(text: "Newest")
    let message = try #require(event.content as? MessagePush)
    let cases: [(more: Int, locale: String?, subtitle: String?)] = [
      (4, nil, "\"subtitle\":\"+4 more\""), (4, "de-AT", "\"subtitle\":\"+4 weitere\""), (0, "de-AT", nil),
    ]
    for (more, locale, subtitle) in cases {
      let composed = try ComposedPush(
        message, about: event.subject, updating: .message(PushFixtures.makeID(9)), more: more, in: .builtIn)
      let target = PushTarget(
        address: PushFixtures.phone.address, environment: PushFixtures.phone.environment, app: PushFixtures.phone.app,
        keys: locale.map { "{\"locale\":\"\($0)\"}" })
      let request = try event.push(
        composed.push(for: target).push, to: target, of: event.recipients[0], timeToLive: .seconds(3600)
      ).request(of: PushFixtures.route.app)
      let body = String(decoding: request.body, as: UTF8.self)
      #expect(request.head.collapseIdentifier?.text == PushFixtures.makeID(9).text)
      #expect(body.contains("\"interruption-level\":\"passive\"") && !body.contains("\"sound\""))
      #expect(body.contains("\"body\":\"Newest\"") && body.contains("\"message_id\":\"\(PushFixtures.messageID)\""))
      #expect(subtitle.map { body.contains($0) } ?? !body.contains("subtitle"))
    }
  }

  private struct APSKeys: Decodable {
    let aps: [String: AnyValue]
  }

  /// Any JSON value, not looked at.
  private struct AnyValue: Decodable {
    init(from decoder: any Decoder) {}
  }

  @Test(
    "names and texts of any kind make valid JSON of at most 4096 bytes",
    arguments: [
      "", " ", "\"\\\n\r\t\u{8}\u{c}\u{0}\u{1f}\u{7f}", "\u{2028}\u{2029}\u{feff}",
      String(repeating: "\u{1}", count: 5000),
      String(repeating: "\"", count: 5000), String(repeating: "👨‍👩‍👧‍👦", count: 2000),
      "e" + String(repeating: "\u{301}", count: 50_000), String(repeating: "نص", count: 3000), "\u{202e}evil",
    ])
  func hostileTexts(text: String) throws {
    for sender in [text, nil] {
      let event = PushFixtures.event(
        sender: sender, text: text, recipients: [PushFixtures.recipient(badge: .max), PushFixtures.recipient(badge: 0)])
      for request in try requests(for: event) {
        #expect(request.body.count <= 4096)
        let payload = try JSONDecoder().decode(Payload.self, from: Data(request.body))
        #expect(!payload.aps.alert.title.isEmpty)
      }
    }
  }

  @Test("an event without a message has nothing to say")
  func deleted() throws {
    #expect(try PushFixtures.request(PushFixtures.event(isDeleted: true)) == nil)
  }

  @Test("identifiers are the same in every attempt")
  func stableIdentifiers() throws {
    let first = try requests(for: PushFixtures.event(attempts: 1)).map(\.head)
    let tenth = try requests(for: PushFixtures.event(text: "edited", attempts: 10)).map(\.head)
    #expect(first == tenth)
    #expect(first.map(\.collapseIdentifier?.text) == ["abcd0000-0000-4000-8000-000000000003"])
  }

  @Test("every device, recipient and message has an identifier of its own; the collapse identifier is the message's")
  func distinctIdentifiers() throws {
    let both = [PushFixtures.phone, PushFixtures.tablet]
    let recipients = [PushFixtures.makeID(8), PushFixtures.makeID(9)].map { PushFixtures.recipient($0, devices: both) }
    let events = [PushFixtures.makeID(20), PushFixtures.makeID(21)].map {
      PushFixtures.event(subject: $0, recipients: recipients)
    }
    let heads = try events.flatMap { try requests(for: $0) }.map(\.head)
    #expect(Set(heads.map(\.identifier)).count == 8)
    #expect(Set(heads.map { $0.collapseIdentifier?.text }).count == 2)
  }

  @Test("the spelling of a token changes neither its path nor its identifier")
  func tokenSpelling() throws {
    let heads = try ["BB02", "bb02"].map { token in
      let device = PushTarget(address: token, environment: nil)
      return try requests(for: PushFixtures.event(recipients: [PushFixtures.recipient(devices: [device])]))[0].head
    }
    #expect(heads[0] == heads[1])
    #expect(heads[0].path == "/3/device/bb02")
  }

  @Test(
    "the time for which a push was held on purpose does not shorten how long APNs keeps it",
    arguments: [(0.0, 1_700_003_600), (0.000_001, 1_700_003_601), (28_800, 1_700_032_400), (1e13, 9_223_372_040_454)])
  func held(seconds: Double, expiration: Int64) throws {
    let recipient = PushFixtures.recipient(situation: RecipientSituation(heldFor: .seconds(seconds)))
    let head = try #require(try requests(for: PushFixtures.event(recipients: [recipient])).first?.head)
    #expect(head.expiration == .until(unixSeconds: expiration))
  }

  @Test("an alert for the app goes out at once and is kept until the message is no longer worth a push")
  func fields() throws {
    let head = try #require(try requests(for: PushFixtures.event()).first?.head)
    let fields = Dictionary(uniqueKeysWithValues: head.fields.map { ($0.name, $0.value) })
    #expect(fields["apns-topic"] == "com.example.app")
    #expect(fields["apns-push-type"] == "alert")
    #expect(fields["apns-priority"] == "10")
    #expect(fields["apns-expiration"] == "1700003600")
  }

  @Test("a token that is none is refused with a reason", arguments: ["", "abc", "../..", "zz", "aa 1"])
  func badToken(token: String) throws {
    #expect {
      try PushFixtures.request(PushFixtures.event(), for: PushTarget(address: token))
    } throws: { ($0 as? PushRequestError)?.code == .deviceTokenMalformed }
  }
}
