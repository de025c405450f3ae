import FoundationEssentials
import HTTP1
import HTTPTypes
import PushRules
import Testing

@testable import API
@testable import PushStore

@Suite("The ingest answer")
struct IngestAnswerTests {
  private let message = HostID(UUID(uuid: (0xAB, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1)))
  private let user = HostID(UUID(uuid: (0xCD, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 2)))
  private let messageText = "ab000000-0000-4000-8000-000000000001"
  private let userText = "cd000000-0000-4000-8000-000000000002"

  private func outcome(
    _ decision: OutcomeDecision, _ reason: String? = nil, until: Int64? = nil, devices: Int = 0
  ) -> RecordedOutcome {
    RecordedOutcome(userID: user, decision: decision, reason: reason, heldUntil: until, devicesAccepted: devices)
  }

  private func json(_ outcomes: RecordedOutcome...) -> String {
    String(decoding: IngestAnswer(.message(message), outcomes: outcomes).json, as: UTF8.self)
  }

  @Test("a message on its way has neither been sent nor skipped")
  func pending() {
    let text = String(decoding: IngestAnswer(.message(message), outcomes: nil).json, as: UTF8.self)
    #expect(text == #"{"message_id":"\#(messageText)","recipients":[],"sent":false,"skipped":false}"#)
  }

  @Test("a sent push names its devices and no reason")
  func sent() {
    let recipient = #"{"decision":"sent","devices":2,"user_id":"\#(userText)"}"#
    #expect(
      json(outcome(.sent, devices: 2))
        == #"{"message_id":"\#(messageText)","recipients":[\#(recipient)],"sent":true,"skipped":false}"#)
  }

  @Test("a message without recipients says so")
  func nobody() {
    #expect(
      json()
        == #"{"message_id":"\#(messageText)","reason":"no_recipients","recipients":[],"sent":false,"skipped":true}"#)
  }

  @Test(
    "a held push says until when, in UTC with milliseconds",
    arguments: [
      (1_700_000_000_000_000, "2023-11-14T22:13:20.000Z"), (1_700_000_000_001_000, "2023-11-14T22:13:20.001Z"),
      (1_700_000_000_999_000, "2023-11-14T22:13:20.999Z"), (4_102_444_800_007_000, "2100-01-01T00:00:00.007Z"),
    ] as [(Int64, String)])
  func held(microseconds: Int64, text: String) {
    let recipient = #"{"decision":"held","reason":"user_viewing","until":"\#(text)","user_id":"\#(userText)"}"#
    let expected =
      #"{"message_id":"\#(messageText)","reason":"user_viewing","recipients":[\#(recipient)],"#
      + #""sent":false,"skipped":true}"#
    #expect(json(outcome(.held, "user_viewing", until: microseconds)) == expected)
  }

  @Test("a reason is the message's when all recipients share it, and a success has none")
  func sharedReason() {
    let cases: [([RecordedOutcome], String?)] = [
      ([outcome(.skipped, "muted"), outcome(.skipped, "muted")], "muted"),
      ([outcome(.skipped, "muted"), outcome(.skipped, "already_read")], nil),
      ([outcome(.sent, devices: 1), outcome(.skipped, "muted")], nil),
      ([outcome(.skipped, "muted"), outcome(.sent, devices: 1)], nil),
      ([outcome(.held, "user_viewing"), outcome(.skipped, "user_viewing")], "user_viewing"),
      ([outcome(.failed, "Unregistered")], "Unregistered"),
    ]
    for (outcomes, reason) in cases {
      #expect(IngestAnswer(.message(message), outcomes: outcomes).reason == reason)
    }
  }
}

@Suite("The wait preference")
struct WaitPreferenceTests {
  private static let standard = Duration.milliseconds(1000)

  private func preference(_ values: String...) -> WaitPreference {
    var fields = HTTPFields()
    for value in values { fields.append(HTTPField(name: .prefer, value: value)) }
    return WaitPreference(fields, default: Self.standard)
  }

  @Test(
    "a wish that can be met is met and confirmed",
    arguments: [
      ("wait=0", 0, "wait=0"), ("wait=1", 1, "wait=1"), ("wait=60", 60, "wait=60"), ("wait=059", 59, "wait=59"),
      ("WAIT = 7", 7, "wait=7"), ("foo, wait=5", 5, "wait=5"), ("wait=x, wait=5", 5, "wait=5"),
      ("wait=3, wait=9", 3, "wait=3"), ("\twait=4\t", 4, "wait=4"), ("wait=5; note=1", 5, "wait=5"),
      ("wait=\"6\"", 6, "wait=6"), ("respond-async", 0, "respond-async"), ("Respond-Async", 0, "respond-async"),
      ("handling=lenient, respond-async", 0, "respond-async"), ("respond-async; a=b", 0, "respond-async"),
    ])
  func met(value: String, seconds: Int, applied: String) {
    let preference = preference(value)
    #expect(preference.limit == .seconds(seconds))
    #expect(preference.applied == applied)
  }

  @Test("nobody waits longer than a minute, and the confirmation says so", arguments: ["wait=61", "wait=999999"])
  func clamped(value: String) {
    #expect(preference(value).limit == .seconds(60))
    #expect(preference(value).applied == "wait=60")
  }

  @Test(
    "what cannot be understood is ignored",
    arguments: [
      "", ",", "wait", "wait=", "wait=-1", "wait=1.5", "wait=+1", "wait=1000000", "wait=99999999999999999999",
      "wait=٣", "wait=1=2", "waiting=5", "async", "respond-async=no",
    ])
  func ignored(value: String) {
    #expect(preference(value).limit == Self.standard)
    #expect(preference(value).applied == nil)
  }

  @Test("several fields are one list")
  func severalFields() {
    #expect(preference("foo=1", "wait=8").limit == .seconds(8))
  }

  @Test("both wishes together: wait that long, then answer that it goes on (RFC 7240 section 4.3)")
  func both() {
    for list in ["respond-async, wait=10", "wait=10, respond-async"] {
      #expect(preference(list).limit == .seconds(10))
      #expect(preference(list).applied == "respond-async, wait=10")
    }
  }
}

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

  @Test(
    "what is not JSON is said not to be, and nothing of it is repeated",
    arguments: [
      "", " ", "{", "}", "secret", #"{"message_id":"secret"#, #"{"message_id":"\#(id)"} secret"#, "{'a':1}", "\u{0}",
    ])
  func noJSON(text: String) {
    #expect(error(of: text) == ProblemDetails.content(nil, "The body is not valid JSON."))
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
}
