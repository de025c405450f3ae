import FoundationEssentials
import PushRules
import PushStore
import Testing

@testable import API

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
      (1_700_000_000_000_000, "2023-11-14T22:13:20.000Z"), (1_700_000_000_123_000, "2023-11-14T22:13:20.123Z"),
      (1_700_000_000_001_000, "2023-11-14T22:13:20.001Z"), (1_700_000_000_999_000, "2023-11-14T22:13:20.999Z"),
      (1_700_000_000_057_000, "2023-11-14T22:13:20.057Z"), (4_102_444_800_007_000, "2100-01-01T00:00:00.007Z"),
    ] as [(Int64, String)])
  func held(microseconds: Int64, text: String) {
    let recipient = #"{"decision":"held","reason":"user_viewing","until":"\#(text)","user_id":"\#(userText)"}"#
    let expected =
      #"{"message_id":"\#(messageText)","reason":"user_viewing","recipients":[\#(recipient)],"#
      + #""sent":false,"skipped":true}"#
    #expect(json(outcome(.held, "user_viewing", until: microseconds)) == expected)
  }

  @Test("every millisecond of a second is printed as it is")
  func everyMillisecond() {
    for millisecond in 0..<1000 {
      let text = json(outcome(.held, until: 1_763_700_000_000_000 + Int64(millisecond) * 1000))
      let digits = String(1000 + millisecond).dropFirst()
      #expect(text.contains(".\(digits)Z"), "\(text)")
    }
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

  @Test("one recipient who got it makes the message sent", arguments: OutcomeDecision.allDecisions)
  func sentFlag(other: OutcomeDecision) {
    #expect(json(outcome(other), outcome(.sent)).hasSuffix(#""sent":true,"skipped":false}"#))
    let alone = json(outcome(other))
    #expect(alone.hasSuffix(other == .sent ? #""sent":true,"skipped":false}"# : #""sent":false,"skipped":true}"#))
  }

  @Test("slashes and quotes of a reason are printed as JSON has them")
  func strangeReason() {
    #expect(json(outcome(.failed, "a/b\"c")).contains(#""reason":"a/b\"c""#))
  }
}

extension OutcomeDecision {
  fileprivate static let allDecisions: [OutcomeDecision] = [.sent, .held, .skipped, .failed]
}
