import FoundationEssentials
import HTTPServing
import PushStore
import Testing

@testable import API

@Suite("The document of preferences")
struct PreferenceDocumentTests {
  @Test(
    "a time of day is two digits, a colon and two digits",
    arguments: [
      ("00:00", 0), ("00:01", 1), ("09:59", 599), ("23:59", 1439), ("24:00", nil), ("23:60", nil), ("7:00", nil),
      ("07:0", nil), ("07:000", nil), ("", nil), ("0700", nil), ("07-00", nil), ("+7:00", nil), ("07:/0", nil),
      ("0:700", nil), ("07:0:", nil), ("٠٧:٠٠", nil),
    ])
  func timesOfDay(text: String, minutes: Int?) {
    let time = TimeOfDay(text)
    #expect(time?.minutes == minutes)
    if let time { #expect(time.text == text) }
  }

  @Test(
    "an instant is read in any zone and written in UTC",
    arguments: [
      ("2026-01-31T20:15:00Z", "2026-01-31T20:15:00.000Z"),
      ("2026-01-31T20:15:00.5Z", "2026-01-31T20:15:00.500Z"),
      ("2026-01-31T20:15:00.123456789Z", "2026-01-31T20:15:00.123Z"),
      ("2026-01-31T20:15:00+05:45", "2026-01-31T14:30:00.000Z"),
      ("2026-01-01T00:00:00.25+14:00", "2025-12-31T10:00:00.250Z"),
      ("2000-01-01T00:00:00-14:59", "2000-01-01T14:59:00.000Z"),
      ("2999-12-31T23:59:59Z", "2999-12-31T23:59:59.000Z"),
      ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
      ("1999-12-31T23:59:59Z", nil), ("3000-01-01T00:00:00Z", nil), ("2026-01-31", nil), ("2026-01-31T20:15Z", nil),
      ("2026-01-31T20:15:00", nil), ("2026-01-31 20:15:00Z", nil), ("2026-01-31t20:15:00z", nil),
      ("2026-01-31T24:00:00Z", nil), ("2026-01-31T20:15:60Z", nil), ("2026-01-31T20:15:00.Z", nil),
      ("2026-13-31T20:15:00Z", nil), ("2026-01-31T20:15:00+0545", nil),
      ("2026-01-31T20:15:00-15:00", nil), ("2026-01-31T20:15:00Zx", nil), ("", nil),
    ])
  func timestamps(text: String, expected: String?) {
    #expect(Timestamp(text)?.text == expected)
  }

  @Test("a document that is cut anywhere is refused, and whole it says the same when it is written and read again")
  func cut() throws {
    let text = """
      {"conversations":[{"conversation_id":"0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11","mentions_only":true,"muted":true,\
      "muted_until":"2026-01-31T20:15:00.120Z"}],"disabled_kinds":["message"],"quiet_hours":{"end":"07:00",\
      "policy":"drop","start":"22:00","time_zone":"Europe/Berlin"}}
      """
    let bytes = Array(text.utf8)
    for length in bytes.indices {
      #expect(throws: ProblemDetails.self) {
        try RequestContent.decode(PreferenceDocument.self, from: Array(bytes[..<length]))
      }
    }
    #expect(try RequestContent.decode(PreferenceDocument.self, from: bytes).json == bytes)
  }

  @Test(
    "what cannot be meant is refused by its name",
    arguments: [
      (#"{"quiet_hours":{"start":"22:00"}}"#, "quiet_hours.end"),
      (#"{"quiet_hours":{"start":"22:00","end":"22:00"}}"#, "quiet_hours.end"),
      (#"{"quiet_hours":{"start":"24:00","end":"22:00"}}"#, "quiet_hours.start"),
      (#"{"quiet_hours":{"start":"21:00","end":"22:00","policy":"wait"}}"#, "quiet_hours.policy"),
      (#"{"quiet_hours":{"start":"21:00","end":"22:00","time_zone":"a b"}}"#, "quiet_hours.time_zone"),
      (#"{"quiet_hours":[]}"#, "quiet_hours"),
      (#"{"disabled_kinds":["a","a"]}"#, "disabled_kinds"),
      (#"{"disabled_kinds":["a b"]}"#, "disabled_kinds"),
      (#"{"disabled_kinds":[""]}"#, "disabled_kinds"),
      (#"{"disabled_kinds":["\#(String(repeating: "k", count: 65))"]}"#, "disabled_kinds"),
      (#"{"disabled_kinds":[\#(list(65) { "\"k\($0)\"" })]}"#, "disabled_kinds"),
      (#"{"conversations":[{"muted":true}]}"#, "conversations[0].conversation_id"),
      (#"{"conversations":[\#(list(2) { _ in conversation(0) })]}"#, "conversations"),
      (#"{"conversations":[\#(list(1001, conversation))]}"#, "conversations"),
    ])
  func refused(text: String, field: String) {
    do {
      _ = try RequestContent.decode(PreferenceDocument.self, from: Array(text.utf8))
      Issue.record("it was taken")
    } catch {
      #expect(error.extensions.map(\.value) == [.string(field)])
    }
  }

  @Test("as much as is allowed is taken")
  func bounds() throws {
    let kinds = Self.list(63) { "\"k\($0)\"" } + ",\"\(String(repeating: "k", count: 64))\""
    let text = #"{"disabled_kinds":[\#(kinds)],"conversations":[\#(Self.list(1000, Self.conversation))]}"#
    let document = try RequestContent.decode(PreferenceDocument.self, from: Array(text.utf8))
    #expect(document.preferences.disabledKinds.count == 64)
    #expect(document.preferences.conversations.count == 1000)
  }

  private static func list(_ count: Int, _ element: (Int) -> String) -> String {
    (0..<count).map(element).joined(separator: ",")
  }

  private static func conversation(_ number: Int) -> String {
    #"{"conversation_id":"00000000-0000-0000-0000-\#(100_000_000_000 + number)"}"#
  }
}
