import FoundationEssentials
import PushRules
import TestIDs
import Testing

@testable import API

@Suite("Reading over HTTP")
struct ReadRoutesTests {
  @Test(
    "all is read without content, with an empty object and with nulls",
    arguments: ["", "{}", #"{"up_to_message_id":null,"device_token":null}"#])
  func all(_ body: String) async throws {
    try await ServiceRig.run { rig in
      let (message, reader) = try await rig.makeMessage()
      let path = try await rig.path(ofConversationOf: message)
      let answer = try await rig.ask("POST", path + "/read", as: reader, body: body)
      #expect(answer.status == 200 && answer.body == #"{"badge":0,"read":1}"#)
      #expect(answer.fields["content-type"] == "application/json")
      #expect(try await rig.ask("POST", path + "/read", as: reader, body: body).body == #"{"badge":0,"read":0}"#)
    }
  }

  @Test("a message of another conversation is 404 with its field, and nothing is read")
  func otherMessage() async throws {
    try await ServiceRig.run { rig in
      let (message, reader) = try await rig.makeMessage()
      let (other, _) = try await rig.makeMessage()
      let path = try await rig.path(ofConversationOf: message)
      let wrong = try await rig.ask("POST", path + "/read", as: reader, body: #"{"up_to_message_id":"\#(other)"}"#)
      #expect(wrong.status == 404 && wrong.body.contains(#""field":"up_to_message_id""#))
      let right = try await rig.ask("POST", path + "/read", as: reader, body: #"{"up_to_message_id":"\#(message)"}"#)
      #expect(right.body == #"{"badge":0,"read":1}"#)
    }
  }

  @Test("strangers get 403, unknown conversations 404, no token 401")
  func refusals() async throws {
    try await ServiceRig.run { rig in
      let (message, reader) = try await rig.makeMessage()
      let path = try await rig.path(ofConversationOf: message)
      #expect(try await rig.ask("POST", path + "/read", as: HostID.new().text).status == 403)
      #expect(try await rig.ask("POST", "/v1/conversations/\(HostID.new())/read", as: reader).status == 404)
      #expect(try await rig.ask("POST", path + "/read", as: "nobody").status == 401)
    }
  }

  @Test(
    "content that cannot be used is named",
    arguments: [
      (#"{"up_to_message_id":"7"}"#, "up_to_message_id"), (#"{"up_to_message_id":7}"#, "up_to_message_id"),
      (#"{"device_token":"xy"}"#, "device_token"), (#"{"device_token":"abc"}"#, "device_token"),
      (#"{"device_token":""}"#, "device_token"), (#"{"device_token":"é0"}"#, "device_token"),
      (#"{"device_token":"\u0000\u0000"}"#, "device_token"), (#"{"device_token":1}"#, "device_token"),
    ])
  func content(_ body: String, _ field: String) async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let answer = try await rig.ask(
        "POST", "/v1/conversations/\(HostID.new())/read", as: HostID.new().text, body: body)
      #expect(answer.status == 400 && answer.body.contains(#""field":"\#(field)""#))
    }
  }

  @Test("what is no JSON object is 400")
  func noObject() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      for body in ["[]", "7", "{", #""text""#] {
        let answer = try await rig.ask(
          "POST", "/v1/conversations/\(HostID.new())/read", as: HostID.new().text, body: body)
        #expect(answer.status == 400)
      }
    }
  }

  @Test("tokens have an even number of hexadecimal digits, at most 512")
  func tokens() {
    for digits in [2, 64, 512] { #expect(throws: Never.self) { try Self.decode(digits) } }
    for digits in [0, 1, 63, 514] { #expect(throws: (any Error).self) { try Self.decode(digits) } }
  }

  private static func decode(_ digits: Int) throws {
    let token = String(repeating: "a", count: digits)
    _ = try JSONDecoder().decode(ReadBody.self, from: Data(#"{"device_token":"\#(token)"}"#.utf8))
  }

  @Test("a push is opened by its user, as often as the app says so")
  func opened() async throws {
    try await ServiceRig.run { rig in
      let (push, user) = (UUID().uuidString.lowercased(), HostID.new().text)
      try await rig.psql(
        """
        insert into tacet.push_log (id, user_id, subject_id, push_type, decision)
        values ('\(push)', '\(user)', gen_random_uuid(), 'message', 'sent')
        """)
      for _ in 0..<2 {
        let answer = try await rig.ask("POST", "/v1/pushes/\(push)/opened", as: user)
        #expect(answer.status == 204 && answer.body.isEmpty)
      }
      #expect(try await rig.psql("select opened from push_log").contains("t"))
      #expect(try await rig.ask("POST", "/v1/pushes/\(push)/opened", as: HostID.new().text).status == 404)
      #expect(try await rig.ask("POST", "/v1/pushes/\(HostID.new())/opened", as: user).status == 404)
      let malformed = try await rig.ask("POST", "/v1/pushes/7/opened", as: user)
      #expect(malformed.status == 400 && malformed.body.contains(#""field":"push_log_id""#))
    }
  }
}

extension ServiceRig {
  fileprivate func path(ofConversationOf message: String) async throws -> String {
    let id = try await psql("select conversation_id from messages where id = '\(message)'")
    return "/v1/conversations/" + id.filter { !$0.isWhitespace }
  }
}
