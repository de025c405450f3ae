import Foundation
import PushRules
import Reactors
import TestRandomness
import TestReactors
import Testing

@testable import Channels

@Suite("Messages to Android")
struct FCMMessageTests {
  private static func message(_ change: (inout FCMMessage) throws -> Void = { _ in }) rethrows -> FCMMessage {
    var message = FCMMessage(token: "t:APA91b")
    (message.title, message.body) = ("Ann", "Hi")
    try change(&message)
    return message
  }

  private static func json(_ message: FCMMessage, isTrial: Bool = false) throws -> String {
    String(decoding: try message.encoded(isTrial: isTrial), as: UTF8.self)
  }

  @Test("every member has its place")
  func complete() throws {
    let message = Self.message {
      $0.image = "https://example.com/a.png"
      $0.data = ["b": "2", "a": "\"1\"\n"]
      $0.timeToLive = .milliseconds(3_600_999)
      ($0.collapseKey, $0.tag, $0.channelIdentifier, $0.badge) = ("c1", "m1", "messages", 3)
    }
    #expect(
      try Self.json(message) == #"{"message":{"token":"t:APA91b","#
        + #""notification":{"title":"Ann","body":"Hi","image":"https://example.com/a.png"},"#
        + #""data":{"a":"\"1\"\n","b":"2"},"android":{"priority":"HIGH","ttl":"3600s","collapse_key":"c1","#
        + #""notification":{"tag":"m1","channel_id":"messages","notification_count":3}}}}"#)
  }

  @Test("what is absent or empty is left out")
  func minimal() throws {
    let message = Self.message {
      $0.body = ""
      $0.priority = .normal
      ($0.tag, $0.badge) = ("", 0)
    }
    #expect(
      try Self.json(message, isTrial: true) == #"{"validate_only":true,"message":{"token":"t:APA91b","#
        + #""notification":{"title":"Ann"},"android":{"priority":"NORMAL","ttl":"2419200s"}}}"#)
  }

  @Test("a data-only message has its texts as data, and the app's members of the same names are renamed")
  func dataOnly() throws {
    let message = Self.message {
      $0.presentation = .dataOnly
      $0.data = ["title": "own", "a": "1", "image": "own"]
      ($0.tag, $0.badge) = ("m1", 7)
    }
    #expect(
      try Self.json(message) == #"{"message":{"token":"t:APA91b","data":{"a":"1","app.image":"own","app.title":"own","#
        + #""body":"Hi","notification_count":"7","tag":"m1","title":"Ann"},"#
        + #""android":{"priority":"HIGH","ttl":"2419200s"}}}"#)
  }

  @Test(
    "a time to live is whole seconds up to four weeks",
    arguments: [
      (Duration.seconds(-1), "0s"), (.zero, "0s"), (.milliseconds(999), "0s"), (.milliseconds(3500), "3s"),
      (.seconds(2_419_200), "2419200s"), (.seconds(2_419_201), "2419200s"), (.seconds(Int64.max), "2419200s"),
    ])
  func timeToLive(_ duration: Duration, _ text: String) throws {
    #expect(try Self.json(Self.message { $0.timeToLive = duration }).contains(#""ttl":"\#(text)""#))
  }

  @Test(
    "a badge is from 1 to the largest 32-bit number, and otherwise left out",
    arguments: [(-1, nil), (0, nil), (1, 1), (2_147_483_647, 2_147_483_647), (Int.max, 2_147_483_647)] as [(Int, Int?)])
  func badges(_ badge: Int, _ count: Int?) throws {
    let json = try Self.json(Self.message { $0.badge = badge })
    #expect(json.contains("notification_count") == (count != nil))
    if let count { #expect(json.contains(#""notification_count":\#(count)}"#)) }
  }

  @Test("what FCM would refuse is refused here")
  func refusals() {
    let table: [(FCMMessageError.Code, (inout FCMMessage) -> Void)] = [
      (.invalidToken, { $0.token = "" }), (.invalidToken, { $0.token = "a b" }), (.invalidToken, { $0.token = "a\n" }),
      (.invalidToken, { $0.token = "ä" }), (.invalidToken, { $0.token = String(repeating: "a", count: 1025) }),
      (.nothingToShow, { ($0.title, $0.body) = (nil, "") }), (.invalidImage, { $0.image = "http://example.com/a" }),
      (.invalidImage, { $0.image = "http://localhost/a" }), (.invalidImage, { $0.image = "https://" }),
      (.payloadTooLarge, { $0.title = String(repeating: "a", count: 2000) }),
    ]
    for (index, (code, change)) in table.enumerated() {
      let message = Self.message(change)
      #expect(#expect(throws: FCMMessageError.self) { try message.encoded() }?.code == code, "\(index)")
    }
  }

  @Test("a token of 1024 characters, and a data-only message without text, are sent")
  func accepted() throws {
    #expect(throws: Never.self) { try Self.message { $0.token = String(repeating: "a", count: 1024) }.encoded() }
    let silent = Self.message {
      ($0.title, $0.body) = (nil, nil)
      $0.presentation = .dataOnly
    }
    #expect(
      try Self.json(silent) == #"{"message":{"token":"t:APA91b","android":{"priority":"HIGH","ttl":"2419200s"}}}"#)
  }
}

@Suite("Shortened messages")
struct FittingTests {
  private static func message(
    _ body: String, _ change: (inout FCMMessage) throws -> Void = { _ in }
  ) rethrows -> FCMMessage {
    var message = FCMMessage(token: "t")
    (message.title, message.body) = ("Ann", body)
    try change(&message)
    return message
  }

  /// `title`, `Ann` and `body` take 12 bytes.
  @Test(
    "a body is cut only when names and texts have more than 2000 bytes",
    arguments: [(1988, 1988), (1989, 1988), (9000, 1988)])
  func edge(_ length: Int, _ kept: Int) throws {
    let fitted = try Self.message(String(repeating: "a", count: length)).fitted()
    #expect(fitted.body?.utf8.count == kept)
    #expect(fitted.body?.hasSuffix("...") == (length > kept))
    #expect(fitted.payloadBytes == 2000)
  }

  @Test(
    "a cut leaves whole characters",
    arguments: [
      ("ä", 18, "ä..."), ("ä", 19, "ää..."), ("ä", 20, "ää..."), ("日", 20, "日..."), ("👍🏽", 24, "👍🏽..."), ("👨‍👩‍👧", 32, "..."),
      ("👨‍👩‍👧", 33, "👨‍👩‍👧..."), ("e\u{301}", 20, "e\u{301}..."),
      ("👍🏽", 22, "..."), ("👍🏽", 15, "..."),
    ])
  func characters(_ character: String, _ bytesMax: Int, _ expected: String) throws {
    let fitted = try Self.message(String(repeating: character, count: 50)).fitted(to: bytesMax)
    #expect(fitted.body == expected)
    #expect(fitted.payloadBytes <= bytesMax)
  }

  @Test(
    "a body goes entirely when not even three dots fit, and then the title must",
    arguments: [(15, "..."), (14, nil), (8, nil)])
  func emptied(_ bytesMax: Int, _ body: String?) throws {
    #expect(try Self.message("Hello, Ada").fitted(to: bytesMax).body == body)
  }

  @Test("without room for title and data, or without a title to show, there is no message")
  func impossible() throws {
    let error = #expect(throws: FCMMessageError.self) { try Self.message("Hello").fitted(to: 7) }
    #expect(error?.code == .payloadTooLarge)
    #expect(throws: FCMMessageError.self) { try Self.message("Hello") { $0.title = nil }.fitted(to: 4) }
    #expect(throws: FCMMessageError.self) {
      try Self.message("Hello") { $0.data = ["k": String(repeating: "x", count: 1992)] }.fitted()
    }
    #expect(throws: Never.self) {
      try Self.message("Hello") { $0.data = ["k": String(repeating: "x", count: 1991)] }.fitted()
    }
  }

  @Test("everything that Google may count is counted", arguments: [false, true])
  func counted(_ isDataOnly: Bool) throws {
    let message = Self.message("Hi") {
      $0.presentation = isDataOnly ? .dataOnly : .notification
      $0.data = ["k": "ää"]
      ($0.tag, $0.channelIdentifier, $0.collapseKey, $0.badge, $0.image) = ("m1", "c", "k1", 12, "https://e/a")
    }
    // title 8, body 6, image 16, tag 5, channel 11, badge 20, data 5, collapse key 2.
    #expect(message.payloadBytes == 73)
    #expect(try message.fitted(to: 73) == message)
    #expect(try message.fitted(to: 72) != message)
  }
}

@Suite("Data of messages")
struct FCMDataTests {
  @Test(
    "reserved names are renamed",
    arguments: [
      ("", true), ("from", true), ("message_type", true), ("google.", true), ("google.x", true),
      ("gcm.notification", true), ("gcm.notification.title", true), ("gcm.notifications", true), ("From", false),
      ("google", false), ("googlex", false), ("gcm.x", false), ("gcm", false), ("from_", false), ("id", false),
    ])
  func names(_ name: String, _ isReserved: Bool) {
    #expect(FCMData.renaming(["a": "1", name: "2"]) == ["a": "1", isReserved ? "app." + name : name: "2"])
  }

  @Test("a renamed member replaces no other")
  func collisions() {
    let members = FCMData.renaming(["from": "1", "app.from": "2", "app.app.from": "3"])
    #expect(members == ["app.from": "2", "app.app.from": "3", "app.app.app.from": "1"])
  }
}

@Suite("Texts as keys of the app's resources")
struct FCMMessageKeyTests {
  private func encoded(_ change: (inout FCMMessage) -> Void) throws -> String {
    var message = FCMMessage(token: "t")
    message.title = "Go"
    message.body = "Now"
    change(&message)
    return String(decoding: try message.encoded(), as: UTF8.self)
  }

  @Test("a notification has the key in place of the words, because Android would take the words")
  func notification() throws {
    let whole = try encoded {
      $0.titleKey = .init("GO", arguments: ["a\"", "b"])
      $0.bodyKey = .init("NOW")
    }
    #expect(!whole.contains(#""notification":{"title""#) && !whole.contains("Now"))
    #expect(
      whole.contains(
        #""notification":{"title_loc_key":"GO","title_loc_args":["a\"","b"],"body_loc_key":"NOW"}"#), "\(whole)")
    let title = try encoded { $0.titleKey = .init("GO") }
    #expect(title.contains(#""notification":{"body":"Now"}"#) && title.contains(#""title_loc_key":"GO"}"#))
  }

  @Test("data has both, with the values as JSON, and renames what the app calls the same")
  func data() throws {
    let whole = try encoded {
      $0.presentation = .dataOnly
      $0.titleKey = .init("GO", arguments: ["a"])
      $0.data = ["title_loc_key": "x"]
    }
    #expect(
      whole.contains(
        #""app.title_loc_key":"x","body":"Now","title":"Go","title_loc_args":"[\"a\"]","title_loc_key":"GO""#),
      "\(whole)")
  }
}

@Suite("Pushes as messages to Android")
struct FCMDelivererTests {
  /// The message that a deliverer makes of a server's push.
  private static func message(_ document: String) async throws -> FCMMessage {
    let subject = PushSubject(id: HostID(UUID()), kind: "offer")
    let push = try StoredPush(ClaimedContent(surfaceID: nil, document: document)).push(about: subject)
    let account = try ServiceAccount(json: ServiceAccountTests.file())
    return try await onReactor { reactor in
      let client = FCMClient(AccessTokenSource(account), on: reactor)
      defer { client.close(on: reactor) }
      let deliverer = FCMDeliverer(client)
      let addressee = Addressee(
        of: push, PushTarget(.fcm, address: "t:APA91b"), of: HostID(UUID()), about: subject, enqueuedAt: 0, unread: 3,
        expiresAt: 0)
      return try deliverer.request(for: push, to: addressee, over: deliverer.routes[0])
    }
  }

  @Test("data that is no text arrives as the JSON that it is")
  func values() async throws {
    let message = try await Self.message(
      #"""
      {"title":"a","body":"b","data":{"order":7,"price":2.5,"paid":true,"none":null,"text":"7","list":[1,"x"],"map":{"a":{}}}}
      """#)
    let own = message.data.filter { !["type", "subject_id", "push_log_id"].contains($0.key) }
    #expect(
      own == ["order": "7", "price": "2.5", "paid": "true", "text": "7", "list": #"[1,"x"]"#, "map": #"{"a":{}}"#])
  }

  @Test("the app's own data under names of ours is renamed")
  func names() async throws {
    let message = try await Self.message(
      #"""
      {"title":"a","body":"b","data":{"silent":"own","category":"own","from":"own"},"presentation":{"sound":"","category":"c"}}
      """#)
    let members = message.data
    #expect(members["silent"] == "true" && members["category"] == "c" && members["push_log_id"]?.count == 36)
    #expect(["app.silent", "app.category", "app.from"].allSatisfy { members[$0] == "own" })
  }
}
