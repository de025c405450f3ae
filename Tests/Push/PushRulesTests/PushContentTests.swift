import Foundation
import Testing

@testable import PushRules

@Suite("The kinds of push")
struct KnownKindsTests {
  @Test("names and kinds of events are each used once")
  func distinct() {
    #expect(Set(KnownKinds.all.map { $0.name }).count == KnownKinds.all.count)
    #expect(KnownKinds.eventKinds == ["message", "read_sync", "live_activity"])
  }

  @Test(
    "content that its kind cannot read, and content of no kind, is no push",
    arguments: [
      ("read_sync", "{}"), ("read_sync", #"{"message_ids":[true],"has_more":false}"#), ("watched_row", "[]"),
      ("stored_push", "{"), ("stored_push", #"{"title":1,"body":""}"#), ("later", "{}"), ("message", "{}"),
    ])
  func unreadable(name: String, document: String) throws {
    let content = KnownKinds.content(ClaimedContent(surfaceID: nil, document: document), of: name)
    #expect(content is UnreadablePush)
    #expect(throws: (any Error).self) { try content.push(about: PushSubject(id: HostID(UUID()), kind: name)) }
  }

  @Test("explanations call a message a message, and everything else an event")
  func words() {
    #expect(KnownKinds.words(ofEventKind: "message") == KindWords(event: "message", surface: "the conversation"))
    #expect(KnownKinds.words(ofEventKind: "request_claimed") == KindWords())
  }
}

@Suite("Shadowed kinds")
struct ShadowedKindsTests {
  @Test("none, all, and those that are named")
  func covers() {
    for kind in KnownKinds.eventKinds.union(["check_in"]) {
      #expect(!ShadowedKinds.none.covers(kind))
      #expect(ShadowedKinds.all.covers(kind))
      #expect(ShadowedKinds.only(["check_in"]).covers(kind) == (kind == "check_in"))
    }
  }

  @Test("operators are told what is not sent")
  func notice() {
    #expect(ShadowedKinds.none.notice == nil)
    #expect(ShadowedKinds.all.notice == "SHADOW is true: pushes are recorded, none is sent")
    #expect(ShadowedKinds.only(["message", "coach"]).notice?.contains("coach, message") == true)
  }
}

@Suite("The presentation of a push")
struct PushPresentationTests {
  private static let all = """
    "subtitle":"Row 5","category":"WORKOUT","sound":"urgent.caf","interruption_level":"time-sensitive",\
    "thread_id":"t1","relevance_score":0.5,"image_url":"https://example.com/a.png","badge":7,"collapse_id":"w17"
    """

  private static let id = HostID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1)))

  private func push(_ members: String, of kind: String = "stored_push") throws -> Push {
    let document =
      #"{"title":"Go","body":"Now","surface_kind":"plan","surface_id":"\#(Self.id)","presentation":{\#(members)}}"#
    let content = KnownKinds.content(ClaimedContent(surfaceID: Self.id, document: document), of: kind)
    return try content.push(about: PushSubject(id: Self.id, kind: "reminder"))
  }

  private func text(_ push: Push) throws -> String {
    guard case .alert(let alert) = push.payload else { return "no alert" }
    return String(decoding: alert.encoded(badge: push.badge, logID: Self.id.text), as: UTF8.self)
  }

  @Test("every member is where Apple documents it")
  func wire() throws {
    let push = try push(Self.all)
    #expect(push.collapseIdentifier.text == "w17")
    #expect(
      try text(push) == """
        {"aps":{"alert":{"title":"Go","subtitle":"Row 5","body":"Now"},"badge":7,"sound":"urgent.caf","thread-id":"t1",\
        "category":"WORKOUT","interruption-level":"time-sensitive","relevance-score":0.5,"mutable-content":1},\
        "type":"reminder","subject_id":"\(Self.id.text)","image_url":"https://example.com/a.png",\
        "push_log_id":"\(Self.id.text)"}
        """)
  }

  @Test("a watched row has its surface as thread unless its presentation names one")
  func thread() throws {
    #expect(try text(push("", of: "watched_row")).contains(#""thread-id":"\#(Self.id.text)""#))
    #expect(try text(push(#""thread_id":"t1""#, of: "watched_row")).contains(#""thread-id":"t1""#))
  }

  @Test("a sound of no name is silence")
  func silence() throws {
    #expect(try !text(push(#""sound":"""#)).contains("sound"))
    #expect(try text(push("")).contains(#""sound":"default""#))
  }

  @Test("a fetch shows nothing and brings the data")
  func fetch() throws {
    let push = try push(#""channel":"fetch""#)
    #expect(push.payload == .background(["type": "reminder", "subject_id": .string(Self.id.text)]))
  }

  /// Members with a good value at the edge, and bad ones beyond it.
  private static let edges: [(String, good: [String], bad: [String])] = [
    ("subtitle", [quoted("s", 256)], [quoted("s", 257), #""\u0000""#, "1"]),
    ("category", [quoted("c", 64)], [quoted("c", 65)]), ("sound", [quoted("c", 64)], [quoted("c", 65), "true"]),
    ("thread_id", [quoted("c", 64)], [quoted("c", 65)]),
    ("collapse_id", [quoted("c", 64)], [quoted("c", 65), #""""#, #""a b""#]),
    ("relevance_score", ["0", "1"], ["-0.001", "1.001", #""1""#]),
    ("badge", ["0", "999999"], ["-1", "1000000", "0.5"]),
    ("interruption_level", [#""passive""#, #""critical""#], [#""time_sensitive""#, #""""#]),
    ("channel", [#""fetch""#, #""alert""#], [#""sms""#]),
    (
      "image_url", [#""https://a""#, "\"https://\(String(repeating: "a", count: 1016))\""],
      [#""http://a""#, #""https://""#, #""https://a b""#, "\"https://\(String(repeating: "a", count: 1017))\""]
    ),
  ]

  private static func quoted(_ letter: String, _ count: Int) -> String {
    "\"\(String(repeating: letter, count: count))\""
  }

  @Test(
    "a request is refused for the member that is wrong, and a stored one goes out without it", arguments: edges.indices)
  func bounds(index: Int) throws {
    let (member, good, bad) = Self.edges[index]
    for (values, isGood) in [(good, true), (bad, false)] {
      for value in values {
        let json = #"{"title":"Go","body":"","\#(member)":\#(value)}"#
        let request = Result { try JSONDecoder().decode(ServicePushRequest.self, from: Data(json.utf8)) }
        #expect(((try? request.get()) != nil) == isGood, "\(json)")
        let plain = try push("")
        let stored = try push(#""\#(member)":\#(value)"#)
        if !isGood { #expect(stored.payload == plain.payload && stored.badge == plain.badge) }
      }
    }
  }

  @Test("what is stored of a request is read back the same")
  func stored() throws {
    let json = #"{"title":"Go","body":"",\#(Self.all),"channel":"fetch"}"#
    let request = try JSONDecoder().decode(ServicePushRequest.self, from: Data(json.utf8))
    var expected = request.presentation
    expected.collapseID = nil
    let read = try JSONDecoder().decode(StoredPresentation.self, from: Data(request.presentation.json.utf8))
    #expect(read.presentation == expected)
  }

  @Test(
    "times and keys of a request",
    arguments: [
      (#""expires_in":1"#, true), (#""expires_in":2592000"#, true), (#""expires_in":0"#, false),
      (#""expires_in":2592001"#, false), (#""send_at":"2026-01-02T03:04:05Z""#, true),
      (#""send_at":"2026-01-02T03:04:05.678+01:00""#, true), (#""send_at":"tomorrow""#, false),
      (#""send_at":"2026-01-02T03:60:00Z""#, false), (#""send_at":"2026-02-30T03:00:00Z""#, false),
      (#""send_at":"9999-01-02T03:04:05Z""#, false), (#""send_at":1"#, false), (#""cancel_key":"k""#, true),
      (#""cancel_key":"""#, false), (#""cap_group":"check_in""#, true), (#""cap_group":"Check""#, false),
      (#""cap_group":"a","send_at":"2026-01-02T03:04:05Z""#, false),
    ])
  func times(members: String, isGood: Bool) {
    let json = #"{"title":"Go","body":"",\#(members)}"#
    let request = try? JSONDecoder().decode(ServicePushRequest.self, from: Data(json.utf8))
    #expect((request != nil) == isGood)
  }
}
