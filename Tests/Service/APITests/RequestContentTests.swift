import Foundation
import FoundationEssentials
import Glibc
import HTTP1
import PushRules
import Reactors
import TestIDs
import Testing

@testable import API

@Suite("What callers send")
struct RequestContentTests {
  private static let id = "6f9619ff-8b86-4d01-b42d-00c04fc964ff"

  @Test(
    "an integer of more than 64 bits is refused wherever it stands, and any other number is read",
    arguments: [
      ("9223372036854775807", true), ("-9223372036854775808", true), ("9223372036854775808", false),
      ("-9223372036854775809", false), ("12345678901234567890", false), ("1e300", true),
      ("12345678901234567890.5", true),
      ("0", true), (#""12345678901234567890""#, true), (#""a\"12345678901234567890""#, true),
      ("[1, 12345678901234567890]", false), (#"{"b": 12345678901234567890}"#, false),
      (#"{"12345678901234567890": 1}"#, true),
    ])
  func integers(_ value: String, _ isRead: Bool) {
    for body in [#"{"a": \#(value)}"#, #"{"a":\#(value),"b":1}"#] {
      let document = try? RequestContent.decode(PayloadObject.self, from: Array(body.utf8))
      #expect((document != nil) == isRead, "\(body)")
    }
  }

  @Test(
    "a UUID is 36 characters in either case, and nothing that only looks like it",
    arguments: [
      "", "6f9619ff8b864d01b42d00c04fc964ff", "{\(id)}", "\(id)\0", "\(id)0", " \(id)", String(id.dropLast()),
      id.replacing("6f96", with: "6f9 "), id.replacing("6f96", with: "+f96"), id.replacing("6f96", with: "0x96"),
      id.replacing("ff-8b", with: "f-8b-"), id.replacing("6f96", with: "6g96"),
    ])
  func none(text: String) {
    #expect(UUID(hyphenated: text) == nil)
    #expect(UUID(hyphenated: Self.id) == UUID(hyphenated: Self.id.uppercased()))
  }

  @Test("tokens that are not valid and wrong service keys lock nobody out")
  func gate() async throws {
    try await ServiceRig.run { (rig: ServiceRig) async throws in
      let user = "\(HostID.new())"
      for _ in 0..<12 {
        #expect(try await rig.ask("GET", "/v1/preferences", as: "expired").status == 401)
      }
      #expect(try await rig.ask("GET", "/v1/preferences", as: user).status == 200)
      for _ in 0..<10 {
        #expect(try await rig.ask("POST", "/v1/pushes", as: "guess", body: "{}").status == 401)
      }
      // A slow machine has regained a try or two meanwhile.
      var later: [Int] = []
      while later.last != 429, later.count < 10 {
        later.append(try await rig.ask("POST", "/v1/pushes", as: "guess", body: "{}").status)
      }
      #expect(later.last == 429 && later.dropLast().allSatisfy { $0 == 401 })
      #expect(try await rig.ask("POST", "/v1/pushes", body: "{}").status == 400)
      #expect(try await rig.ask("GET", "/v1/preferences", as: user).status == 200)
    }
  }

  @Test(
    "members that nobody knows are refused, and named",
    arguments: [
      ("PUT", "/v1/devices/aa", #"{"timezone": "UTC"}"#, "timezone"),
      ("PUT", "/v1/preferences", #"{"quiet": 1}"#, "quiet"),
      (
        "PUT", "/v1/preferences", #"{"quiet_hours": {"start": "22:00", "end": "07:00", "zone": "UTC"}}"#,
        "quiet_hours.zone"
      ),
      (
        "PUT", "/v1/preferences", #"{"conversations": [{"conversation_id": "\#(HostID.new())", "mute": true}]}"#,
        "conversations[0].mute"
      ),
      ("POST", "/v1/conversations/\(HostID.new())/read", #"{"message_id": null}"#, "message_id"),
      ("POST", "/v1/pushes", #"{"user_id": "\#(HostID.new())", "title": "t", "body": "b", "badges": 1}"#, "badges"),
      ("POST", "/v1/webhooks/messages", #"{"message_id": "\#(HostID.new())", "record_id": 1}"#, "record_id"),
      ("POST", "/v1/webhooks/request_claimed", #"{"subject_id": "\#(HostID.new())", "user_id": 1}"#, "user_id"),
    ])
  func unknownMembers(method: String, path: String, body: String, field: String) async throws {
    try await ServiceRig.run(hasDatabase: false) { (rig: ServiceRig) async throws in
      let proof = path.contains("webhooks") ? ServiceRig.secret : path == "/v1/pushes" ? nil : "\(HostID.new())"
      let answer = try await rig.ask(method, path, as: proof, body: body)
      #expect(answer.status == 400)
      #expect(answer.body.contains(#""field":"\#(field)""#), "\(answer.body)")
      #expect(answer.body.contains("Unknown members: \(field)."))
    }
  }

  @Test("of many and long unknown names, few and their beginnings are told")
  func unknownNames() throws {
    let names = (10...40).map { "\($0)" + String(repeating: "x\u{301}", count: 500) }
    let body = "{" + names.map { "\"\($0)\": 1" }.joined(separator: ", ") + "}"
    let problem = #expect(throws: ProblemDetails.self) {
      try RequestContent.decode(DeviceBody.self, from: Array(body.utf8))
    }
    #expect(problem?.detail?.hasSuffix(" and 23 more.") == true)
    #expect((problem?.detail?.utf8.count ?? 0) < 2000)
  }

  @Test("content is bounded where an app or another server sends it", arguments: [(65_536, 400), (65_537, 413)])
  func bound(bytes: Int, status: Int) async throws {
    try await ServiceRig.run(hasDatabase: false) { (rig: ServiceRig) async throws in
      let body = "{" + String(repeating: " ", count: bytes - 2) + "}"
      #expect(try await rig.ask("POST", "/v1/pushes", body: body).status == status)
    }
  }
}

@Suite("Names that apps send")
struct NameSyntaxTests {
  @Test(
    "language tags are letters, then parts of one to eight letters and digits",
    arguments: [
      ("de", true), ("de-CH", true), ("zh-Hant-TW", true), ("sl-rozaj-biske-1994", true), ("x-private", true),
      ("abcdefgh", true), ("en-12345678", true), (tag(bytes: 85), true),
      ("", false), ("-", false), ("de-", false), ("-de", false), ("de--CH", false), ("de_CH", false), ("d3", false),
      ("abcdefghi", false), ("en-123456789", false), ("dé", false), ("de CH", false), ("de\u{0}", false),
      (tag(bytes: 86), false), ("de[", false), ("de`", false), ("de-@", false),
    ])
  func languageTags(text: String, isGood: Bool) {
    #expect(LanguageTag.isWellFormed(text) == isGood)
  }

  @Test(
    "a tag is read as POSIX and Java write it",
    arguments: [
      ("zh_Hans", "zh-Hans"), ("de_DE.UTF-8@euro", "de-DE"), ("de@" + String(repeating: "a", count: 200), "de"),
      ("_", nil), (String(repeating: "a", count: 90), nil),
    ])
  func posixTags(text: String, tag: String?) {
    #expect(LanguageTag.read(text) == tag)
  }

  @Test(
    "time zone names are parts of letters, digits and three signs",
    arguments: [
      ("UTC", true), ("Europe/Berlin", true), ("America/Argentina/ComodRivadavia", true), ("Etc/GMT+12", true),
      ("America/Port-au-Prince", true), ("EST5EDT", true), (String(repeating: "a", count: 64), true),
      ("", false), ("/", false), ("Europe/", false), ("/Berlin", false), ("Europe//Berlin", false), ("1/2", false),
      ("<+03>-3", false), ("Europe/Bérlin", false), ("Europe/Berlin ", false), ("a'", false), ("a\u{0}", false),
      (String(repeating: "a", count: 65), false), ("+03", false),
    ])
  func timeZoneNames(text: String, isGood: Bool) {
    #expect(TimeZoneName.isWellFormed(text) == isGood)
  }

  /// A well-formed tag of so many bytes.
  private static func tag(bytes: Int) -> String {
    let text = "de" + String(repeating: "-1", count: (bytes - 2) / 2)
    return bytes.isMultiple(of: 2) ? text : text + "1"
  }
}

@Suite("What content costs")
struct ContentCostTests {
  /// As many bytes as a body may have.
  private static let bytes = 65_000

  /// Bodies of others, each as long as a body may be: deep, wide, and long.
  private static let shapes: [(name: String, json: String)] = [
    ("arrays inside each other", String(repeating: "[", count: bytes / 2) + String(repeating: "]", count: bytes / 2)),
    ("480 arrays inside each other", String(repeating: "[", count: 480) + String(repeating: "]", count: 480)),
    ("objects inside each other", String(repeating: #"{"a":"#, count: 400) + "1" + String(repeating: "}", count: 400)),
    ("numbers", "[" + Array(repeating: "1", count: bytes / 2).joined(separator: ",") + "]"),
    ("empty arrays", "[" + Array(repeating: "[]", count: bytes / 3).joined(separator: ",") + "]"),
    ("members", "{" + (0..<bytes / 9).map { #""\#($0)":1"# }.joined(separator: ",") + "}"),
    ("escapes", "\"" + String(repeating: #"\u0041"#, count: bytes / 6) + "\""),
    ("digits", String(repeating: "9", count: bytes)),
    ("marks in two orders", "\"" + String(repeating: "\u{301}\u{316}", count: bytes / 4) + "\""),
    (
      "names that differ at their end",
      "{" + (0..<1980).map { "\"" + String(repeating: "e\u{301}", count: 7) + "\($0)\":1" }.joined(separator: ",") + "}"
    ),
  ]

  /// 10 ms in a release; a debug build takes some twenty times as long, and a slow machine five times that. What grows with the square of
  /// the length takes many seconds.
  private static let limit: Duration = {
    #if DEBUG
    .seconds(1)
    #else
    .milliseconds(10)
    #endif
  }()

  private static var threadTime: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// Every member of every document that an operation takes, and the whole document as a member without a name.
  private static func places() throws -> [(method: String, path: String, proof: String, member: String)] {
    let operations = try InterfaceDescription.shared.get().operations.filter(\.hasContent)
    return operations.flatMap { operation -> [(String, String, String, String)] in
      let path = operation.path.replacing(/\{(\w+)\}/) { match in
        switch match.1 {
        case "token": "aa01"
        case "type": "WorkoutActivityAttributes"
        case "kind": "conversation"
        default: UUID().uuidString.lowercased()
        }
      }
      let members = operation.contents.filter { $0.place.contains(" request ") }.flatMap { _, media in
        let schema = operation.check.resolved(media["schema"] as? [String: Any] ?? [:])
        let forms = (schema["oneOf"] as? [[String: Any]])?.map(operation.check.resolved) ?? [schema]
        return forms.flatMap { ($0["properties"] as? [String: Any] ?? [:]).keys }
      }
      let proof =
        operation.proofs.contains("service")
        ? ServiceRig.serviceKey : operation.proofs.contains("secret") ? ServiceRig.secret : UUID().uuidString
      return (Set(members).sorted() + ["unknown", ""]).map { (operation.method, path, proof, $0) }
    }
  }

  @Test("content of any shape costs little, at each member of each operation", arguments: shapes.map(\.name))
  func cost(_ name: String) async throws {
    let shape = try #require(Self.shapes.first { $0.name == name }?.json)
    let places = try Self.places()
    #expect(places.count > 60)
    try await ServiceRig.run(hasDatabase: false) { rig in
      for (method, path, proof, member) in places {
        let before = await rig.parts.perform { _, _ in Self.threadTime }
        let body = member.isEmpty ? shape : #"{"\#(member)":\#(shape)}"#
        let fields = ["Content-Type": "application/json", "Authorization": "Bearer \(proof)"]
        let answer = try await PlainClient.ask(method, path, fields: fields, body: body, port: rig.port)
        let spent = await rig.parts.perform { _, _ in Self.threadTime } - before
        #expect(answer.status != 500 && spent < Self.limit, "\(method) \(path) \(member): \(answer.status) \(spent)")
      }
    }
  }
}

@Suite("U+0000, which PostgreSQL cannot store", .uuidsOnly)
struct ZeroCharacterTests {
  private typealias Object = [String: Any]

  /// A place in a document: members by name, elements by number.
  private typealias Path = [any Hashable]

  @Test("is refused in every string of every document that is described, and never a failure")
  func everyString() async throws {
    try await ServiceRig.run { (rig) async throws in
      let description = try InterfaceDescription.shared.get()
      let token = try await rig.workerToken()
      var tried = 0
      for operation in description.operations where operation.hasContent {
        let path = Self.path(of: operation)
        for (document, schema) in Self.documents(of: operation) {
          for place in Self.strings(in: document, schema, operation.check) {
            let body = try JSONSerialization.data(withJSONObject: Self.document(document, with: "a\0b", at: place[...]))
            let answer = try await rig.send(
              operation.method, path, proofs: operation.proofs, token, String(decoding: body, as: UTF8.self))
            #expect([400, 422].contains(answer.status), "\(operation.method) \(operation.path) \(place): \(answer)")
            tried += 1
          }
        }
      }
      #expect(tried > 80, "\(tried)")
    }
  }

  @Test(
    "is found as an escape alone",
    arguments: [
      (#"{"message": "a\u0000"}"#, true), (#"{"message": "\\\u0000"}"#, true), (#"{"\u0000": "a"}"#, true),
      (#"{"message": "\\u0000"}"#, false), (#"{"message": "\\\\u0000"}"#, false), (#"{"message": "u0000"}"#, false),
      (#"{"message": "\"\u00000"}"#, true), (#"{"message": "\u0001"}"#, false),
    ])
  func escapes(_ text: String, _ isRefused: Bool) {
    let document = try? RequestContent.decode([String: String].self, from: Array(text.utf8))
    #expect((document == nil) == isRefused)
  }
}

extension ZeroCharacterTests {
  /// With values for the parameters in its path that lead to the document.
  private static func path(of operation: InterfaceDescription.Operation) -> String {
    let values = [
      "token": "aa", "type": "WorkoutActivityAttributes", "campaign": "ritual", "slot": "0800", "kind": "message",
    ]
    return operation.path.replacing(/\{(\w+)\}/) { values[String($0.1)] ?? UUID().uuidString.lowercased() }
  }

  /// The examples of what an operation takes.
  private static func documents(of operation: InterfaceDescription.Operation) -> [(Object, Object)] {
    // What the host's database says of a row is not stored.
    guard !operation.proofs.contains("secret") else { return [] }
    return operation.contents.filter { $0.place.contains(" request ") }.flatMap { _, media in
      let named = (media["examples"] as? [String: Object] ?? [:]).compactMap { $1["value"] as? Object }
      return (named + [media["example"] as? Object].compactMap(\.self)).map { ($0, media["schema"] as? Object ?? [:]) }
    }
  }

  /// Where a document has strings, and where its schema says that it may.
  private static func strings(in value: Any, _ schema: Object, _ check: SchemaCheck) -> [Path] {
    let schema = check.resolved(schema)
    switch value {
    case is String: return [[]]
    case let object as Object:
      let properties = schema["properties"] as? Object ?? [:]
      let present = object.flatMap { name, value in
        strings(in: value, properties[name] as? Object ?? [:], check).map { [name as any Hashable] + $0 }
      }
      let absent = properties.filter { name, member in
        let type = check.resolved(member as? Object ?? [:])["type"]
        return object[name] == nil && (type as? String == "string" || (type as? [String])?.contains("string") == true)
      }
      return present + absent.keys.map { [$0] }
    case let list as [Any]:
      let element = schema["items"] as? Object ?? [:]
      return list.indices.flatMap { index in
        strings(in: list[index], element, check).map { [index as any Hashable] + $0 }
      }
    default: return []
    }
  }

  private static func document(_ value: Any, with text: String, at place: Path.SubSequence) -> Any {
    switch (value, place.first) {
    case (_, nil): return text
    case (var object as Object, let name as String):
      object[name] = document(object[name] ?? "", with: text, at: place.dropFirst())
      return object
    case (var list as [Any], let index as Int):
      list[index] = document(list[index], with: text, at: place.dropFirst())
      return list
    default: preconditionFailure("the place is in the document")
    }
  }
}

extension ServiceRig {
  /// Sends a document with the first proof that an operation takes.
  fileprivate func send(
    _ method: String, _ path: String, proofs: [String], _ token: String, _ body: String
  ) async throws -> PlainResponse {
    if proofs == ["worker"] { return try await worker(method, path, token, body) }
    // A user's requests are limited, so each comes from another one.
    return try await ask(method, path, as: proofs.contains("client") ? makeUser() : nil, body: body)
  }

  fileprivate func workerToken() async throws -> String {
    let answer = try await ask(
      "PUT", "/v1/web-push/subscriptions", as: makeUser(), body: TargetRoutesTests.body(TargetRoutesTests.endpoint("a"))
    )
    return try answer.decode(TargetRoutesTests.Registered.self).fetch_token
  }
}
