import FoundationEssentials
import HTTP1
import PushRules
import Testing

@testable import API

@Suite("The webhook's body")
struct WebhookBodyTests {
  private static let id = "6F9619FF-8B86-4D01-B42D-00C04FC964FF"
  private static let other = "00000000-0000-4000-8000-000000000001"

  private func parse(_ text: String) throws(ProblemDetails) -> WebhookBody {
    try RequestContent.decode(from: Array(text.utf8))
  }

  private func error(of text: String) -> ProblemDetails? {
    do throws(ProblemDetails) {
      _ = try parse(text)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "the three forms name a message, and the third a recipient",
    arguments: [
      (#"{"message_id":"\#(id)"}"#, false),
      (#" { "message_id" : "\#(id.lowercased())" , "message_preview": [1, {"a": null}] } "#, false),
      (#"{"type":"INSERT","record":{"id":"\#(id)"},"commit_timestamp":1}"#, false),
      (
        #"{"type":"INSERT","table":"messages","schema":"public","record":{"id":"\#(id)","text":"x"},"old_record":null}"#,
        false
      ),
      (#"{"record":{"id":"\#(id)"},"type":"INSERT","message_id":"\#(other)"}"#, false),
      (#"{"recipient_user_id":"\#(other)","message_id":"\#(id)","conversation_id":"c","sender_name":"n"}"#, true),
    ])
  func forms(text: String, hasRecipient: Bool) throws {
    let body = try parse(text)
    #expect(body.messageID.uuid?.uuidString == Self.id)
    #expect(body.recipientID?.uuid?.uuidString == (hasRecipient ? Self.other : nil))
  }

  @Test(
    "a field that is missing, null or wrong is named with its path",
    arguments: [
      ("{}", "message_id", "is missing"),
      (#"{"message_id":null}"#, "message_id", "must not be null"),
      (#"{"message_id":7}"#, "message_id", "has the wrong type"),
      (#"{"message_id":[]}"#, "message_id", "has the wrong type"),
      (#"{"message_id":"7"}"#, "message_id", "must be a UUID"),
      (#"{"message_id":""}"#, "message_id", "must be a UUID"),
      (#"{"message_id":"\#(id)0"}"#, "message_id", "must be a UUID"),
      (#"{"message_id":"\#(id)","recipient_user_id":null}"#, "recipient_user_id", "must not be null"),
      (#"{"message_id":"\#(id)","recipient_user_id":"me"}"#, "recipient_user_id", "must be a UUID"),
      (#"{"message_id":"\#(id)","recipient_user_id":{}}"#, "recipient_user_id", "has the wrong type"),
      (#"{"type":"INSERT"}"#, "record", "is missing"),
      (#"{"type":"INSERT","record":null}"#, "record", "must not be null"),
      (#"{"type":"INSERT","record":"\#(id)"}"#, "record", "has the wrong type"),
      (#"{"type":"INSERT","record":[{"id":"\#(id)"}]}"#, "record", "has the wrong type"),
      (#"{"type":"INSERT","record":{}}"#, "record.id", "is missing"),
      (#"{"type":"INSERT","record":{"id":null}}"#, "record.id", "must not be null"),
      (#"{"type":"INSERT","record":{"id":1}}"#, "record.id", "has the wrong type"),
      (#"{"type":"INSERT","record":{"id":"x"}}"#, "record.id", "must be a UUID"),
      (#"{"record":{"id":"\#(id)"}}"#, "type", "is missing"),
      (#"{"type":null,"record":{"id":"\#(id)"}}"#, "type", "must not be null"),
      (#"{"type":1,"record":{"id":"\#(id)"}}"#, "type", "has the wrong type"),
      (#"{"type":"UPDATE","record":{"id":"\#(id)"}}"#, "type", "must be INSERT; only new messages are pushed"),
      (
        #"{"type":"DELETE","record":null,"old_record":{"id":"\#(id)"}}"#, "type",
        "must be INSERT; only new messages are pushed"
      ),
      (#"{"type":"insert","record":{"id":"\#(id)"}}"#, "type", "must be INSERT; only new messages are pushed"),
    ])
  func wrongFields(text: String, field: String, fault: String) {
    #expect(error(of: text) == ProblemDetails.content(field, "\(field) \(fault)."))
  }

  @Test("JSON that is no object is said to be none", arguments: ["[]", "\"a\"", "1", "true", #"[{"message_id":"x"}]"#])
  func noObject(text: String) {
    #expect(error(of: text) == ProblemDetails.content(nil, "The body must be a JSON object."))
  }

  @Test("a null is not an object either")
  func null() {
    #expect(error(of: "null")?.extensions.isEmpty == true)
    #expect(error(of: "null") != nil)
  }

  @Test(
    "what is not JSON is said not to be, and nothing of it is repeated",
    arguments: [
      "", " ", "{", "}", "secret", #"{"message_id":"secret"#, #"{"message_id":"\#(id)"} secret"#, "{'a':1}", "\u{0}",
    ])
  func noJSON(text: String) {
    #expect(error(of: text) == ProblemDetails.content(nil, "The body is not valid JSON."))
  }

  @Test("bytes that are no UTF-8 are not JSON")
  func noUTF8() {
    #expect(throws: ProblemDetails.self) {
      try RequestContent.decode(WebhookBody.self, from: [0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x3A, 0x31, 0x7D])
    }
  }

  @Test("deep nesting is refused before it fills the stack, whether it is closed or not")
  func deepNesting() {
    for depth in [100, 10_000, 200_000] {
      let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      for text in [
        #"{"extra":\#(nested),"message_id":"\#(Self.id)"}"#, String(repeating: "[", count: depth),
        String(repeating: #"{"a":"#, count: depth),
      ] {
        #expect(
          error(of: text)?.detail == "The body has more than 16 arrays and objects inside each other.", "\(depth)")
      }
    }
  }

  @Test("a key that stands twice names one of its values and never both")
  func duplicateKeys() throws {
    let body = try parse(#"{"message_id":"\#(Self.id)","message_id":"\#(Self.other)"}"#)
    #expect([Self.id, Self.other].contains(body.messageID.uuid?.uuidString ?? ""))
  }
}
