import Channels
import Foundation
import FoundationEssentials
import TestIDs
import Testing

@testable import PushPipeline
@testable import PushRules
@testable import PushStore

@Suite("The push of a message")
struct MessagePushTests {
  private func requests(for event: PushEvent) throws -> [APNSRequest] {
    try event.recipients.flatMap { recipient in
      try recipient.targets.map { try #require(try PushFixtures.request(event, for: $0, to: recipient)) }
    }
  }

  @Test("the payload names the sender, begins the text, has the recipient's badge, and nothing else")
  func payload() throws {
    let event = PushFixtures.event(recipients: [PushFixtures.recipient(badge: 7)])
    let request = try #require(try requests(for: event).first)
    #expect(
      String(decoding: request.body, as: UTF8.self) == """
        {"aps":{"alert":{"title":"Message from Ann","body":"Hello"},"badge":7,"sound":"default",\
        "thread-id":"abcd0000-0000-4000-8000-000000000002"},"type":"message",\
        "conversation_id":"abcd0000-0000-4000-8000-000000000002",\
        "message_id":"abcd0000-0000-4000-8000-000000000003",\
        "push_log_id":"\(event.logID(of: PushFixtures.user).lowercased)"}
        """)
  }

  @Test("an update of a burst replaces the first message's push, passive and without a sound, and says how many more")
  func update() throws {
    let event = PushFixtures.event(text: "Newest")
    let cases: [(more: Int, locale: String?, subtitle: String?)] = [
      (4, nil, "\"subtitle\":\"+4 more\""), (4, "de-AT", "\"subtitle\":\"+4 weitere\""), (0, "de-AT", nil),
    ]
    for (more, locale, subtitle) in cases {
      let first = PushSubject.message(PushFixtures.makeID(9))
      let update = try #require(event.content?.update(of: first, sounds: false, more: more, in: .builtIn))
      let pushes = try EventPushes(update, about: event.subject)
      let target = PushTarget(
        address: PushFixtures.phone.address, environment: PushFixtures.phone.environment, app: PushFixtures.phone.app,
        keys: locale.map { "{\"locale\":\"\($0)\"}" })
      let request = try PushFixtures.request(pushes.push(for: target).push, of: event, for: target)
      let body = String(decoding: request.body, as: UTF8.self)
      #expect(request.collapseIdentifier?.text == PushFixtures.makeID(9).text)
      #expect(body.contains("\"interruption-level\":\"passive\"") && !body.contains("\"sound\""))
      #expect(body.contains("\"body\":\"Newest\"") && body.contains("\"message_id\":\"\(PushFixtures.messageID)\""))
      #expect(subtitle.map { body.contains($0) } ?? !body.contains("subtitle"))
    }
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
        let document = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
        let alert = (document?["aps"] as? [String: Any])?["alert"] as? [String: Any]
        #expect((alert?["title"] as? String)?.isEmpty == false)
      }
    }
  }

  @Test("an event without a message has nothing to say")
  func deleted() throws {
    #expect(try PushFixtures.request(PushFixtures.event(isDeleted: true)) == nil)
  }

  @Test("identifiers are the same in every attempt")
  func stableIdentifiers() throws {
    let first = try requests(for: PushFixtures.event(attempts: 1))
    let tenth = try requests(for: PushFixtures.event(text: "edited", attempts: 10))
    #expect(first.map(\.identifier) == tenth.map(\.identifier))
    for requests in [first, tenth] {
      #expect(requests.map(\.collapseIdentifier?.text) == ["abcd0000-0000-4000-8000-000000000003"])
    }
  }

  @Test("every device, recipient and message has an identifier of its own; the collapse identifier is the message's")
  func distinctIdentifiers() throws {
    let both = [PushFixtures.phone, PushFixtures.tablet]
    let recipients = [PushFixtures.makeID(8), PushFixtures.makeID(9)].map { PushFixtures.recipient($0, devices: both) }
    let events = [PushFixtures.makeID(20), PushFixtures.makeID(21)].map {
      PushFixtures.event(subject: $0, recipients: recipients)
    }
    let all = try events.flatMap { try requests(for: $0) }
    #expect(Set(all.map(\.identifier)).count == 8)
    #expect(Set(all.map { $0.collapseIdentifier?.text }).count == 2)
  }

  @Test("the spelling of a token changes neither its path nor its identifier")
  func tokenSpelling() throws {
    let all = try ["BB02", "bb02"].map { token in
      let device = PushTarget(address: token, environment: nil)
      return try requests(for: PushFixtures.event(recipients: [PushFixtures.recipient(devices: [device])]))[0]
    }
    #expect(all[0] == all[1])
    #expect(all[0].path == "/3/device/bb02")
  }

  @Test(
    "the time for which a push was held on purpose does not shorten how long APNs keeps it",
    arguments: [(0.0, 1_700_003_600), (0.000_001, 1_700_003_601), (28_800, 1_700_032_400), (1e13, 9_223_372_040_454)])
  func held(seconds: Double, expiration: Int64) throws {
    let recipient = PushFixtures.recipient(situation: RecipientSituation(heldFor: .seconds(seconds)))
    let request = try #require(try requests(for: PushFixtures.event(recipients: [recipient])).first)
    #expect(request.expiresAt == expiration)
  }

  @Test("an alert for the app goes out at once and is kept until the message is no longer worth a push")
  func fields() throws {
    let request = try #require(try requests(for: PushFixtures.event()).first)
    var fields: [String: String] = [:]
    request.forEachField { name, value, _ in fields[name] = value }
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

@Suite("The push of reads")
struct ReadSyncPushTests {
  private func request(
    _ messageIDs: [HostID], hasMore: Bool, in conversation: HostID? = PushFixtures.conversation, badge: Int = 3
  ) throws -> APNSRequest {
    let sync = ReadSyncPush(messageIDs: messageIDs, hasMore: hasMore, in: conversation)
    return try #require(try PushFixtures.request(PushFixtures.readSync(sync, badge: badge)))
  }

  @Test("the app is woken in the background, with the badge and what to clear, the newest first")
  func content() throws {
    let ids = [HostID.new(), HostID.new()]
    let request = try request(ids, hasMore: false)
    #expect(request.pushType == .background)
    #expect(request.priority == .powerAware)
    #expect(request.expiresAt == 1_700_003_600)
    let names = ids.reversed().map { #""\#($0.text)""# }.joined(separator: ",")
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == #"{"aps":{"content-available":1},"type":"read","message_ids":[\#(names)],"badge":3,"#
        + #""conversation_id":"\#(PushFixtures.conversation.text)"}"#)
  }

  @Test("reads of several conversations name none, and nothing that all before was read")
  func several() throws {
    let id = HostID.new()
    let request = try request([id], hasMore: true, in: nil)
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == #"{"aps":{"content-available":1},"type":"read","message_ids":["\#(id.text)"],"badge":3}"#)
  }

  @Test("ninety ids and a hint to more fit into a push")
  func largest() throws {
    let ids = (0..<90).map { _ in HostID.new() }
    let request = try request(ids, hasMore: true, badge: .max)
    #expect(request.body.count <= PushType.bodyBytesMax)
    #expect(String(decoding: request.body, as: UTF8.self).hasSuffix(#""all_before":"\#(ids[89].text)"}"#))
  }
}

@Suite("The push of a watched row")
struct WatchedRowPushTests {
  private func body(_ event: PushEvent) throws -> String {
    let request = try #require(try PushFixtures.request(event, to: PushFixtures.recipient(badge: 3)))
    return String(decoding: request.body, as: UTF8.self)
  }

  private static func event(title: String, body: String) -> PushEvent {
    let surface = SurfaceID(kind: "request", id: PushFixtures.makeID(8))
    return PushFixtures.event(
      WatchedRowPush(title: title, body: body, surface: surface), kind: "request_claimed",
      subject: PushFixtures.makeID(7))
  }

  @Test("the payload has the words, the surface as its thread, and names kind, subject and surface")
  func payload() throws {
    let event = Self.event(title: "Ann takes \"it\" on", body: "Tea\nand more")
    #expect(
      try body(event) == """
        {"aps":{"alert":{"title":"Ann takes \\"it\\" on","body":"Tea and more"},"badge":3,"sound":"default",\
        "thread-id":"abcd0000-0000-4000-8000-000000000008"},"type":"request_claimed",\
        "subject_id":"abcd0000-0000-4000-8000-000000000007","surface_kind":"request",\
        "surface_id":"abcd0000-0000-4000-8000-000000000008",\
        "push_log_id":"\(event.logID(of: PushFixtures.user).lowercased)"}
        """)
  }

  @Test(
    "words of any kind make a document of at most 4096 bytes",
    arguments: ["", "\u{1}", "\"", "👨‍👩‍👧‍👦", "e\u{301}", "نص", "\u{2028}"])
  func hostileTexts(text: String) throws {
    let long = String(repeating: text, count: 4096)
    #expect(try body(Self.event(title: long, body: long)).utf8.count <= 4096)
  }
}

@Suite("The text of a UUID")
struct UUIDTextTests {
  @Test("it is Foundation's in lower case")
  func asFoundation() {
    let edges = ["00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"].compactMap(
      UUID.init(uuidString:))
    for id in edges + (0..<1000).map({ _ in UUID() }) { #expect(id.lowercased == id.uuidString.lowercased()) }
  }
}

@Suite("The pushes of an event")
struct EventPushesTests {
  private static let subject = PushSubject(id: PushFixtures.makeID(7), kind: "reminder")

  private func composed(_ localised: String) throws -> EventPushes {
    let document = #"{"title":"Go","body":"Now","presentation":{\#(localised)}}"#
    let content = KnownKinds.content(ClaimedContent(surfaceID: nil, document: document), of: "stored_push")
    return try EventPushes(content, about: Self.subject)
  }

  private func target(_ locale: String?) -> PushTarget {
    PushTarget(address: "aa", keys: locale.map { #"{"locale":"\#($0)"}"# })
  }

  @Test(
    "each target gets the words of its locale, the nearest one, or the event's own",
    arguments: [
      ("de", "Los", "de"), ("de-AT", "Los", "de"), ("pt-BR", "Vai", "pt"), ("fr", "Go", nil),
      ("not a locale", "Go", nil),
      (nil, "Go", nil),
    ] as [(String?, String, String?)])
  func chosen(locale: String?, title: String, shown: String?) throws {
    let composed = try composed(#""localised":{"de":{"title":"Los"},"pt":{"title":"Vai"}}"#)
    let (push, choice) = composed.push(for: target(locale))
    #expect(push.alert?.title == .verbatim(title) && choice?.shown.text == shown && push.locale?.text == shown)
  }

  @Test("one text for all asks nothing of its targets")
  func plain() throws {
    let (push, choice) = try composed("").push(for: target("de"))
    #expect(push.alert?.title == "Go" && choice == nil)
  }

  @Test("words that fit no push leave the event's own")
  func unfit() throws {
    // A body alone would be cut; the subtitle and the app's data leave no room for even an empty one.
    let wide = String(repeating: "\\u0001", count: 256)
    let localised = #""localised":{"de":{"title":"\#(wide)","subtitle":"\#(wide)","body":"x"}}"#
    let data = #""data":{"x":"\#(String(repeating: "y", count: 1500))"},"#
    let document = #"{\#(data)"title":"Go","body":"Now","presentation":{\#(localised)}}"#
    let content = KnownKinds.content(ClaimedContent(surfaceID: nil, document: document), of: "stored_push")
    let (push, choice) = try EventPushes(content, about: Self.subject).push(for: target("de"))
    #expect(push.alert?.title == "Go" && choice == nil)
  }
}

@Suite("Tacet's own words, as the host has them")
struct KnownWordsTests {
  @Test("a host's words take the place of Tacet's once they are read, and are refused where they could not serve")
  func overridden() async throws {
    try await PipelineRig.run { rig, reactor in
      let words = rig.pipeline.delivery.words
      let german = LocaleTag("de-CH")
      #expect(words.current(on: reactor).text(.newMessage, in: german) == "Neue Nachricht")
      try await rig.execute(
        """
        select tacet.localise('tacet_new_message', 'de', body => 'Post ist da');
        select tacet.localise(
          'tacet_more', 'de', body => 'und {n} mehr', plural => '{"one": {"body": "und eine mehr"}}')
        """, on: reactor)
      await words.read(on: reactor)
      let known = words.current(on: reactor)
      #expect(known.text(.newMessage, in: german) == "Post ist da")
      #expect(known.text(.more, count: 1, in: german) == "und eine mehr")
      #expect(known.text(.more, count: 4, in: german) == "und 4 mehr")
      #expect(known.text(.more, count: 4, in: LocaleTag("fr")) == "+4 autres")
      for wrong in [
        "'tacet_more', 'de', 'title'", "'tacet_more', 'de', body => '{m}'", "'tacet_new_message', 'de', body => '{n}'",
        "'tacet_more', 'de', plural => '{\"one\": {\"body\": \"x\"}}'", "'tacet_other', 'de', body => 'x'",
        "null, 'de', body => 'x'",
      ] {
        await #expect(throws: (any Error).self) {
          try await rig.execute("select tacet.localise(\(wrong))", on: reactor)
        }
      }
    }
  }
}
