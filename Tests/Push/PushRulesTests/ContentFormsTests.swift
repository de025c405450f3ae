import Cryptography
import Foundation
import Testing

@testable import PushRules

@Suite("Forms of a push")
struct ContentFormsTests {
  private static let key = Base64URL.encode(X25519PrivateKey().publicKey.bytes)
  private static let sealing = #""sealing_key":"\#(key)""#
  private let subject = PushSubject.message(HostID(text: "m-1"))
  private let message = MessagePush(conversationID: HostID(text: "c-1"), senderName: "Anna", text: "The secret")

  private func form(
    _ content: (any PushContent)? = nil, keys: String? = nil, service: ContentChoice = .full,
    apps: [String: ContentLevel] = [:], app: String? = nil, channel: DeliveryChannel = .apns
  ) throws -> Push {
    let content = content ?? message
    let subject = content is MessagePush ? subject : PushSubject(id: HostID(text: "r-1"), kind: "claimed_request")
    var forms = ContentForms()
    return try forms.form(
      of: content.push(about: subject), for: PushTarget(channel, address: "ab", app: app, keys: keys),
      by: ContentPolicy(
        service: ContentLevel(service), apps: apps, defaultApp: "com.example.first",
        channels: [DeliveryChannel(rawValue: "web_push"): .encrypted]),
      about: ContentForms.Event(subject, sender: content.sender, in: .builtIn, nil, issuedAt: 1))
  }

  private func shown(_ form: Push) -> [String?] {
    [form.alert?.title?.words, form.alert?.body?.words]
  }

  @Test(
    "service, device and user choose, and the strictest applies",
    arguments: [
      (.full, nil, nil), (.full, #"{"locale":"de"}"#, nil), (.full, #"{"content":"full"}"#, nil),
      (.full, #"{"content":"sender"}"#, .sender), (.full, #"{"user_content":"none"}"#, ContentNote.none),
      (.full, #"{"content":"sender","user_content":"none"}"#, ContentNote.none), (.sender, nil, .sender),
      (.sender, #"{"content":"full"}"#, .sender), (.none, #"{"content":"full"}"#, ContentNote.none),
      (.sealed, nil, .noKey), (.sealed, "{\(sealing)}", .sealed), (.full, "{\(sealing)}", nil),
      (.full, #"{"content":"sealed"}"#, .noKey), (.full, #"{"content":"sealed",\#(sealing)}"#, .sealed),
      (.none, "{\"content\":\"sealed\",\(sealing)}", ContentNote.none),
      (.sealed, "{\"content\":\"none\",\(sealing)}", ContentNote.none),
      (.full, #"{"content":"unheard"}"#, ContentNote.none), (.full, #"{"content":7}"#, ContentNote.none),
      (.full, #"{"content":"full"#, ContentNote.none), (.full, #"{"content":null}"#, nil),
      (.sealed, #"{"sealing_key":"short"}"#, .noKey),
    ] as [(ContentChoice, String?, ContentNote?)])
  func choices(_ service: ContentChoice, _ keys: String?, _ note: ContentNote?) throws {
    let form = try form(keys: keys, service: service)
    #expect(form.note == note)
    switch note {
    case nil: #expect(shown(form) == ["Message from Anna", "The secret"])
    case .sender: #expect(shown(form) == ["Anna", "New message"])
    default: #expect(shown(form) == ["New message", nil])
    }
  }

  @Test(
    "an app is stricter than the service, also the one of tokens that name none, and never laxer",
    arguments: [
      (.full, "com.example.first", nil), (.full, nil, nil), (.full, "com.example.other", ContentNote.none),
      (.sender, "com.example.first", .sender), (.sender, "com.example.other", ContentNote.none),
    ] as [(ContentChoice, String?, ContentNote?)])
  func apps(_ service: ContentChoice, _ app: String?, _ note: ContentNote?) throws {
    #expect(try form(service: service, apps: ["com.example.other": ContentLevel(.none)], app: app).note == note)
    let first = ["com.example.first": ContentLevel(.none)]
    #expect(try form(apps: first).note == ContentNote.none)
    #expect(try form(apps: first, channel: DeliveryChannel(rawValue: "fcm")).note == nil)
  }

  @Test("browsers get what is sealed elsewhere as usual, and otherwise what is chosen")
  func browsers() throws {
    let channel = DeliveryChannel(rawValue: "web_push")
    let keys = #"{"p256dh":"x","auth":"y","content":"sealed"}"#
    #expect(try form(keys: keys, service: .sealed, channel: channel).note == nil)
    #expect(try form(keys: keys, service: .sender, channel: channel).note == .sender)
  }

  @Test("a form keeps sound, thread and ids; not the image, the subtitle and other data")
  func parts() throws {
    var shown = PushPresentation()
    shown.subtitle = "Sub"
    shown.category = "INVITE"
    shown.imageURL = "https://img.example.com/secret.png"
    let row = WatchedRowPush(
      title: "A secret", body: "too", surface: SurfaceID(kind: "board", id: HostID(text: "b-1")), presentation: shown)
    let none = try form(row, service: .none)
    let alert = try #require(none.alert)
    #expect(alert.title == "New notification" && alert.body == nil && alert.subtitle == nil)
    #expect(alert.category == "INVITE" && alert.threadIdentifier == "b-1" && alert.sound == "default")
    #expect(alert.runsServiceExtension)
    #expect(alert.custom.members.map(\.key) == ["type", "subject_id", "surface_kind", "surface_id"])
    // Without a sender its name cannot be shown.
    #expect(try form(row, service: .sender).note == ContentNote.none)
  }

  @Test("what is sealed has the words of the level, and what stays behind")
  func sealed() throws {
    let stored = try StoredPush(
      ClaimedContent(
        surfaceID: nil, document: #"{"title":"T","body":"B","data":{"domain":"exam","slot":"0800"}}"#))
    let push = try stored.push(about: subject)
    let alert = try #require(push.alert)
    let words = SealedWords(of: alert, withheld: alert.custom.withheld, issuedAt: 5)
    #expect(
      String(decoding: try #require(words.encoded(bytesMax: 256)), as: UTF8.self)
        == #"{"issued_at":5,"title":"T","body":"B","data":{"domain":"exam"}}"#)
    #expect(alert.custom.kept.members.map(\.key) == ["slot", "type", "subject_id"])
  }

  @Test("each form is encoded once, until the push is another one")
  func cached() throws {
    var forms = ContentForms()
    let target = PushTarget(address: "ab")
    func document(_ text: String) throws -> PushPayload {
      let push = try MessagePush(conversationID: HostID(text: "c"), senderName: text, text: text).push(about: subject)
      return try forms.form(
        of: push, for: target, by: ContentPolicy(service: ContentLevel(.sender)),
        about: ContentForms.Event(subject, sender: text, in: .builtIn, nil, issuedAt: 1)
      ).payload
    }
    #expect(try document("a") == document("a"))
    #expect(try document("a") != document("b"))
  }

  @Test("the body is cut between characters, then data and subtitle are left out, and a title that is too long fails")
  func cut() throws {
    let family = "👩‍👩‍👧‍👦"
    let payload = try AlertPayload(title: "T", subtitle: "Sub", body: .verbatim(String(repeating: family, count: 40)))
    let words = SealedWords(of: payload, withheld: ["more": "data"], issuedAt: 5)
    for size in 60...300 {
      guard let document = words.encoded(bytesMax: size) else {
        #expect(size < 70)
        continue
      }
      #expect(document.count <= size)
      let members = try JSONSerialization.jsonObject(with: Data(document)) as? [String: Any]
      let body = members?["body"] as? String ?? "…"
      #expect(body.hasSuffix("…") && body.dropLast().allSatisfy { String($0) == family })
    }
    let long = try AlertPayload(title: .verbatim(String(repeating: "t", count: 3000)), body: "b")
    #expect(SealedWords(of: long, withheld: [:], issuedAt: 5).encoded(bytesMax: 2048) == nil)
  }

  @Test("a document that is cut anywhere allows no more than the whole one")
  func hostile() {
    let whole = "{\"content\":\"none\",\"user_content\":\"sealed\",\(Self.sealing),\"locale\":\"de-AT\"}"
    let named = try! #require(whole.range(of: "content\"")).upperBound
    for end in whole.indices where end >= named {
      #expect(TargetWishes(String(whole[..<end])).level.words == .none, "\(whole[..<end])")
    }
    #expect(TargetWishes(whole).level == ContentLevel(words: .none, isSealed: true))
    #expect(TargetWishes(whole).key != nil)
    #expect(TargetWishes(#"{"content":"full","x":"# + String(repeating: "[", count: 5000)).level.words == .none)
  }
}

@Suite("Levels of content")
struct ContentLevelTests {
  @Test(
    "the strictest of two choices applies, in words and in sealing, in either order",
    arguments: [
      (.full, .full, .full, false), (.full, .sender, .sender, false), (.full, .none, .none, false),
      (.full, .sealed, .full, true), (.sender, .sender, .sender, false), (.sender, .none, .none, false),
      (.sender, .sealed, .sender, true), (.none, .none, .none, false), (.none, .sealed, .none, true),
      (.sealed, .sealed, .full, true),
    ] as [(ContentChoice, ContentChoice, ContentLevel.Words, Bool)])
  func strictest(_ one: ContentChoice, _ other: ContentChoice, _ words: ContentLevel.Words, _ isSealed: Bool) {
    let expected = ContentLevel(words: words, isSealed: isSealed)
    #expect(ContentLevel(one).strictest(ContentLevel(other)) == expected)
    #expect(ContentLevel(other).strictest(ContentLevel(one)) == expected)
  }
}
