import FoundationEssentials
import HTTP1
import Operations
import PushStore
import Testing

@testable import API

@Suite("The document of preferences")
struct PreferenceDocumentTests {
  @Test("a document that is cut anywhere is refused, and whole it says the same when it is written and read again")
  func cut() throws {
    let text = """
      {"content":"sealed","conversations":[{"conversation_id":"0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11","mentions_only":true,"muted":true,\
      "muted_until":"2026-01-31T20:15:00.120Z"}],"disabled_kinds":["message"],"quiet_hours":{"end":"07:00",\
      "policy":"drop","start":"22:00","time_zone":"Europe/Berlin"},"unread_after":{"digest":0,"message":10}}
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
      (#"{"content":"some"}"#, "content"), (#"{"content":1}"#, "content"),
      (#"{"disabled_kinds":["a","a"]}"#, "disabled_kinds"),
      (#"{"disabled_kinds":["a b"]}"#, "disabled_kinds"),
      (#"{"disabled_kinds":[""]}"#, "disabled_kinds"),
      (#"{"disabled_kinds":["\#(String(repeating: "k", count: 65))"]}"#, "disabled_kinds"),
      (#"{"disabled_kinds":[\#(list(65) { "\"k\($0)\"" })]}"#, "disabled_kinds"),
      (#"{"unread_after":{"a":9}}"#, "unread_after"), (#"{"unread_after":{"a":604801}}"#, "unread_after"),
      (#"{"unread_after":{"a":-1}}"#, "unread_after"), (#"{"unread_after":{"a b":60}}"#, "unread_after"),
      (#"{"unread_after":{\#(list(65) { "\"k\($0)\":60" })}}"#, "unread_after"),
      (#"{"conversations":[{"muted":true}]}"#, "conversations[0].conversation_id"),
      (#"{"conversations":[\#(list(2) { _ in conversation(0) })]}"#, "conversations"),
      (#"{"conversations":[\#(list(1001, conversation))]}"#, "conversations"),
    ])
  func refused(text: String, field: String) {
    do {
      _ = try RequestContent.decode(PreferenceDocument.self, from: Array(text.utf8), limits: PreferenceDocument.limits)
      Issue.record("it was taken")
    } catch {
      #expect(error.extensions.map(\.value) == [.string(field)])
    }
  }

  @Test("as much as is allowed is taken")
  func bounds() throws {
    let kinds = Self.list(63) { "\"k\($0)\"" } + ",\"\(String(repeating: "k", count: 64))\""
    let text = #"{"disabled_kinds":[\#(kinds)],"conversations":[\#(Self.list(1000, Self.conversation))]}"#
    let document = try RequestContent.decode(
      PreferenceDocument.self, from: Array(text.utf8), limits: PreferenceDocument.limits)
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
