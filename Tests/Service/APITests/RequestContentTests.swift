import FoundationEssentials
import HTTP1
import PushRules
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

  @Test("a UUID is 36 characters, in either case")
  func uuid() {
    #expect(UUID(hyphenated: Self.id)?.uuidString.lowercased() == Self.id)
    #expect(UUID(hyphenated: Self.id.uppercased())?.uuidString.lowercased() == Self.id)
  }

  @Test(
    "and nothing that only looks like it",
    arguments: [
      "", "6f9619ff8b864d01b42d00c04fc964ff", "{\(id)}", "\(id)\0", "\(id)0", " \(id)", String(id.dropLast()),
      id.replacing("6f96", with: "6f9 "), id.replacing("6f96", with: "+f96"), id.replacing("6f96", with: "0x96"),
      id.replacing("ff-8b", with: "f-8b-"), id.replacing("6f96", with: "6g96"),
    ])
  func none(text: String) {
    #expect(UUID(hyphenated: text) == nil)
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
