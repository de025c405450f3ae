import Cryptography
import Foundation
import HTTPTypes
import Reactors
import TestRandomness
import TestReactors
import Testing

@testable import Channels
@testable import PushRules

@Suite("Notifications for browsers")
struct WebPushNotificationTests {
  private static func notification(title: String = "Message from Zoë", body: String? = "Grüße 👋") throws
    -> WebPushNotification
  {
    try WebPushNotification(
      title: title, link: "https://app.example/chat/7", body: body, tag: "m-7", data: ["chat": 7, "do": "open"])
  }

  private struct Document: Decodable {
    struct Notification: Decodable {
      let title, navigate: String
      let body: String?
    }

    let web_push: Int
    let notification: Notification
  }

  private static func read(_ bytes: [UInt8]) throws -> Document {
    try JSONDecoder().decode(Document.self, from: Data(bytes))
  }

  @Test("a notification has every member that was given, in one order")
  func everything() throws {
    let notification = try WebPushNotification(
      title: "Zoë", link: "https://app.example/7", body: "Hi \"you\"\n", tag: "m-7", language: "de-AT", badge: 3,
      image: "https://app.example/7.png", isSilent: false, alertsAgain: true,
      data: ["chat": 7, "list": .array([1, "two", .null])])
    #expect(
      String(decoding: notification.encoded(), as: UTF8.self)
        == #"{"web_push":8030,"notification":{"title":"Zoë","navigate":"https://app.example/7","#
        + #""body":"Hi \"you\"\n","tag":"m-7","lang":"de-AT","image":"https://app.example/7.png","app_badge":"3","#
        + #""renotify":true,"data":{"chat":7,"list":[1,"two",null]}}}"#)
  }

  @Test("what was not given is left out")
  func least() throws {
    let notification = try WebPushNotification(title: "A", link: "https://b.example/", body: "", tag: "")
    #expect(
      String(decoding: notification.encoded(), as: UTF8.self)
        == #"{"web_push":8030,"notification":{"title":"A","navigate":"https://b.example/"}}"#)
  }

  @Test(
    "a replacement alerts again only with a tag and with sound, because browsers throw otherwise",
    arguments: [("m", false, true), ("m", true, false), ("", false, false)])
  func alertsAgain(_ tag: String, _ isSilent: Bool, _ isThere: Bool) throws {
    let notification = try WebPushNotification(
      title: "A", link: "https://b.example/", tag: tag, isSilent: isSilent, alertsAgain: true)
    let text = String(decoding: notification.encoded(), as: UTF8.self)
    #expect(text.contains("renotify") == isThere)
    #expect(text.contains(#""silent":true"#) == isSilent)
  }

  @Test("the badge is a text, and never negative", arguments: [(0, "0"), (-1, "0"), (12, "12")])
  func badge(_ badge: Int, _ text: String) throws {
    let notification = try WebPushNotification(title: "A", link: "https://b.example/", badge: badge)
    #expect(String(decoding: notification.encoded(), as: UTF8.self).contains(#""app_badge":"\#(text)""#))
  }

  @Test("a title and a link are needed", arguments: [("", "https://b.example/"), ("A", "")])
  func incomplete(_ title: String, _ link: String) {
    #expect { try WebPushNotification(title: title, link: link) } throws: {
      ($0 as? WebPushError)?.code == .notificationIncomplete
    }
  }

  @Test("a document of the limit stays whole, and one byte more shortens the body")
  func edge() throws {
    let frame = try Self.notification(body: "x").encoded().count - 1
    let whole = String(repeating: "a", count: 2560 - frame)
    let fitting = try Self.notification(body: whole).fitted()
    #expect(fitting.count == 2560)
    #expect(try Self.read(fitting).notification.body == whole)
    let cut = try Self.notification(body: whole + "a").fitted()
    #expect(cut.count == 2560)
    #expect(try Self.read(cut).notification.body == whole.dropLast(3) + "...")
  }

  @Test(
    "a text is cut between characters of any length, and the rest stays",
    arguments: ["a", "ä", "👨‍👩‍👧‍👦", "\u{1}", "\"", "\r\n", "e\u{301}\u{302}", "🇦🇹", "क्षि"])
  func clusters(_ cluster: String) throws {
    for extra in 0..<40 {
      let body = String(repeating: "-", count: extra) + String(repeating: cluster, count: 2500)
      let document = try Self.notification(body: body).fitted()
      #expect(document.count <= 2560)
      let shown = try #require(try Self.read(document).notification.body)
      #expect(shown.hasSuffix("..."))
      #expect(body.hasPrefix(shown.dropLast(3)))
      #expect(shown.dropLast(3).drop { $0 == "-" }.allSatisfy { String($0) == cluster })
      // No room for another character is left.
      let width = cluster.utf8.reduce(0) { $0 + JSONEscape.width(of: $1) }
      #expect(document.count > 2560 - width)
      #expect(try Self.read(document).notification.title == "Message from Zoë")
    }
  }

  @Test("a long title is shortened once the body is gone")
  func title() throws {
    let document = try Self.notification(title: String(repeating: "t", count: 5000), body: "Hello").fitted()
    let shown = try Self.read(document).notification
    #expect(document.count == 2560)
    #expect(shown.title.hasSuffix("t..."))
    #expect(shown.body == nil)
  }

  @Test("data that fills the limit by itself is refused, and so is a document without room for a title")
  func tooLarge() throws {
    func document(_ count: Int) throws -> [UInt8] {
      try WebPushNotification(
        title: "Hello", link: "https://b.example/", body: "World",
        data: ["x": .string(String(repeating: "d", count: count))]
      ).fitted()
    }
    // The frame without both texts. The shortest title is three dots.
    let frame = try document(0).count - #"Hello"body":"World","#.utf8.count
    #expect(try document(2560 - frame - 3).count == 2560)
    for count in [2560 - frame - 2, 2560, 100_000] {
      #expect { _ = try document(count).count } throws: { ($0 as? WebPushError)?.code == .payloadTooLarge }
    }
  }

  @Test("random texts always fit")
  func random() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let pieces = ["a", "ß", "\u{0}", "\"", "👩🏽‍🚀", "\u{301}", "\r", "\n", "한", "\u{1F1E6}"]
    for _ in 0..<300 {
      func text(_ most: Int) -> String {
        (0..<Int.random(in: 1...most, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined()
      }
      let (title, body) = (text(800), text(1500))
      let document = try Self.notification(title: title, body: body).fitted()
      #expect(document.count <= 2560, "seed \(seed)")
      let shown = try Self.read(document).notification
      let isOwn = shown.title == title || title.hasPrefix(shown.title.dropLast(3))
      #expect(isOwn, "seed \(seed)")
      let isBody = shown.body ?? "" == body || body.hasPrefix((shown.body ?? "").dropLast(3))
      #expect(isBody, "seed \(seed)")
    }
  }
}

@Suite("Requests to push services")
struct WebPushRequestTests {
  private static func request(
    _ content: [UInt8]? = nil, timeToLive: Int64 = 60, topic: WebPushTopic? = nil
  ) throws -> WebPushRequest {
    let keys = try WebPushKeys(
      p256dh: Base64URL.encode(P256PrivateKey().publicKey.x963), auth: "BTBZMqHH6r4Tts7J_aSIgg")
    let endpoint = try WebPushEndpoint("https://fcm.googleapis.com/wp/a", among: .standard)
    return try WebPushRequest(
      to: WebPushSubscription(endpoint: endpoint, keys: keys, serverKey: nil), content: content, urgency: .normal,
      timeToLiveSeconds: timeToLive, topic: topic)
  }

  @Test(
    "the time to live is moved into the range that every service accepts",
    arguments: [(-5, 1), (0, 1), (1, 1), (2_419_200, 2_419_200), (2_419_201, 2_419_200), (.max, 2_419_200)])
  func timeToLive(_ given: Int64, _ sent: Int64) throws {
    let push = try Self.request(timeToLive: given)
    #expect(push.fields(authorization: "x")[.timeToLive] == "\(sent)")
  }

  @Test("a topic is 32 hexadecimal digits, the same for the same identifier")
  func topic() {
    let topic = WebPushTopic(of: "chat/7 ä")
    #expect(topic.text.wholeMatch(of: /[0-9a-f]{32}/) != nil)
    #expect(topic == WebPushTopic(of: "chat/7 ä"))
    #expect(topic != WebPushTopic(of: "chat/8 ä"))
  }

  @Test("a push without content names no encoding")
  func empty() throws {
    for content in [nil, []] as [[UInt8]?] {
      let push = try Self.request(content)
      let fields = push.fields(authorization: "vapid t=a, k=b")
      #expect(fields.map(\.name.canonicalName).sorted() == ["authorization", "ttl", "urgency"])
      #expect(fields[.urgency] == "normal")
    }
  }

  @Test("content is encrypted content, and has a limit")
  func content() throws {
    let largest = [UInt8](repeating: 0, count: 3993)
    let push = try Self.request(largest, topic: WebPushTopic(of: "a"))
    let fields = push.fields(authorization: "vapid t=a, k=b")
    #expect(fields[.contentEncoding] == "aes128gcm")
    #expect(fields[.topic]?.count == 32)
    #expect { try Self.request(largest + [0]) } throws: {
      ($0 as? WebPushError)?.code == .payloadTooLarge
    }
  }
}

@Suite("Pushes in the form of browsers")
struct WebPushDelivererTests {
  /// The urgency of an event's push.
  private static func urgency(of content: any PushContent, _ kind: String) async throws -> WebPushRequest.Urgency {
    let subject = PushSubject(id: HostID(UUID()), kind: kind)
    let push = try content.push(about: subject)
    return try await onReactor { reactor in
      let signer = VAPIDSigner(key: P256PrivateKey(), subject: try VAPIDSubject("mailto:ops@example.com"))
      let client = WebPushClient(signer: signer, on: reactor)
      defer { client.close(on: reactor) }
      let deliverer = WebPushDeliverer(client, links: try WebPushLinks(template: "https://app.example/"))
      let key = Base64URL.encode(P256PrivateKey().publicKey.x963)
      let target = PushTarget(
        .webPush, address: "https://fcm.googleapis.com/wp/a",
        keys: #"{"p256dh":"\#(key)","auth":"BTBZMqHH6r4Tts7J_aSIgg"}"#)
      let addressee = Addressee(
        of: push, target, of: HostID(UUID()), about: subject, enqueuedAt: 0, unread: nil, expiresAt: 0)
      return try deliverer.request(for: push, to: addressee, over: deliverer.route(to: target)).urgency
    }
  }

  @Test(
    "a sleeping device is woken for what is time-sensitive, and not for a push that says nothing of it",
    arguments: [
      (nil, WebPushRequest.Urgency.normal), ("passive", .normal), ("active", .normal), ("time-sensitive", .high),
      ("critical", .high),
    ])
  func levels(_ level: String?, _ urgency: WebPushRequest.Urgency) async throws {
    let presentation = level.map { #"{"interruption_level":"\#($0)"}"# } ?? "{}"
    let document = #"{"title":"a","body":"b","presentation":\#(presentation)}"#
    let push = try StoredPush(ClaimedContent(surfaceID: nil, document: document))
    #expect(try await Self.urgency(of: push, "offer") == urgency)
  }

  @Test("a sleeping device is woken for a message")
  func message() async throws {
    let message = MessagePush(conversationID: HostID(UUID()), senderName: "Ann", text: "Hi")
    #expect(try await Self.urgency(of: message, MessagePush.name) == .high)
  }
}
