import FoundationEssentials
import HTTP1
import HTTPTypes
import PushStore
import Testing

@testable import API

@Suite("Documents of slots")
struct SlotDocumentTests {
  private static func slots(_ count: Int) -> String {
    (0..<count).map { #"{"slot":"\#($0 < 10 ? "0" : "")\#($0)00"}"# }.joined(separator: ",")
  }

  private static func document(_ slot: String) -> String { #"{"enabled":true,"slots":[\#(slot)]}"# }

  @Test(
    "slots that cannot be meant are refused by their name",
    arguments: [
      (#"{"slots":[{"slot":"0800"}]}"#, "enabled"), (#"{"enabled":true}"#, "slots"),
      (#"{"enabled":true,"slots":[]}"#, "slots"), (#"{"enabled":true,"slots":{}}"#, "slots"),
      (#"{"enabled":1,"slots":[{"slot":"0800"}]}"#, "enabled"),
      (#"{"enabled":true,"slots":[{"slot":"0800"}],"zone":"UTC"}"#, "zone"),
      (document(slots(24) + #",{"slot":"2359"}"#), "slots"), (document("{}"), "slots[0].slot"),
      (document(#"{"slot":"8:00"}"#), "slots[0].slot"), (document(#"{"slot":"2400"}"#), "slots[0].slot"),
      (document(#"{"slot":"0860"}"#), "slots[0].slot"), (document(#"{"slot":800}"#), "slots[0].slot"),
      (document(#"{"slot":"08000"}"#), "slots[0].slot"), (document(#"{"slot":"0800\n"}"#), "slots[0].slot"),
      (document(#"{"slot":"0800"},{"slot":"0800"}"#), "slots[1].slot"),
      (document(#"{"slot":"0800","phase":"a"},{"slot":"0900","phase":"a"}"#), "slots[1].phase"),
      (document(#"{"slot":"0800","phase":"Morning"}"#), "slots[0].phase"),
      (document(#"{"slot":"0800","phase":""}"#), "slots[0].phase"),
      (document(#"{"slot":"0800","phase":"\#(String(repeating: "p", count: 33))"}"#), "slots[0].phase"),
      (document(#"{"slot":"0800","weekdays":[]}"#), "slots[0].weekdays"),
      (document(#"{"slot":"0800","weekdays":[0]}"#), "slots[0].weekdays"),
      (document(#"{"slot":"0800","weekdays":[8]}"#), "slots[0].weekdays"),
      (document(#"{"slot":"0800","weekdays":[1,1]}"#), "slots[0].weekdays"),
      (document(#"{"slot":"0800","enabled":"yes"}"#), "slots[0].enabled"),
      (document(#"{"slot":"0800","time_zone":"UTC"}"#), "slots[0].time_zone"),
    ])
  func refused(text: String, field: String) {
    do {
      _ = try RequestContent.decode(SlotsDocument.self, from: Array(text.utf8))
      Issue.record("it was taken: \(text)")
    } catch {
      #expect(error.status == .badRequest && error.extensions.map(\.value) == [.string(field)], "\(text)")
    }
  }

  @Test("as many slots as are allowed are taken, and what is left out has its default")
  func bounds() throws {
    let most = try RequestContent.decode(SlotsDocument.self, from: Array(Self.document(Self.slots(24)).utf8))
    #expect(most.slots.count == 24)
    let phase = String(repeating: "p", count: 32)
    let text = #"{"enabled":false,"slots":[{"slot":"2359","phase":"\#(phase)","weekdays":[7,1]},{"slot":"0000"}]}"#
    let slots = try RequestContent.decode(SlotsDocument.self, from: Array(text.utf8))
    #expect(!slots.enabled)
    #expect(
      slots.slots.map(\.slot) == [UserSlot(slot: "2359", phase: phase, weekdays: [1, 7]), UserSlot(slot: "0000")])
  }
}

@Suite("Batches of events")
struct TelemetryDocumentTests {
  private static let good: [String: String] = [
    "id": #""6f1f0c52-5f64-4c57-9c8e-2f7f6a1d3b90""#, "code": #""armed""#, "slotId": #""0800""#,
    "identifier": #""ritual.0800.2026-11-22""#, "device_token": #""AA""#, "whenMs": "1795330800000", "attempt": "1",
    "networkState": #""online""#, "tzOffset": "60", "appState": #""killed""#, "timestamp": #""2026-11-21T18:30:00Z""#,
  ]

  /// An event with other members; nil leaves one out.
  private static func event(_ changes: [String: String?] = [:]) -> String {
    let members = good.merging(changes.compactMapValues { $0 }) { $1 }.filter { changes[$0.key] != .some(nil) }
    return "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
  }

  private static func batch(_ events: [String]) throws -> TelemetryDocument {
    let text = #"{"events":[\#(events.joined(separator: ","))]}"#
    return try RequestContent.decode(TelemetryDocument.self, from: Array(text.utf8))
  }

  @Test("an event is read whole")
  func whole() throws {
    let events = try Self.batch([Self.event(), Self.event(["identifier": nil, "device_token": "null"])]).events
    #expect(events.map(\.code) == [.armed, .armed] && events[0].id.uuidString.hasPrefix("6F1F"))
    #expect(events.map(\.row) == [SlotIdentifier("ritual.0800.2026-11-22"), nil])
    #expect(events.map(\.deviceToken) == ["aa", nil])
  }

  @Test(
    "an event that cannot be used is rejected alone, by its place and field",
    arguments: [
      ("id", #""x""#), ("id", nil), ("code", #""ARMED""#), ("code", #""FETCH_ERROR""#), ("code", "7"), ("code", nil),
      ("slotId", #""8""#), ("slotId", nil), ("identifier", #""ritual.0800""#), ("identifier", "7"),
      ("device_token", #""a""#), ("device_token", #""zz""#), ("whenMs", "-1"), ("whenMs", "32503680000001"),
      ("whenMs", #""x""#), ("whenMs", nil), ("attempt", "-1"), ("attempt", "2147483648"), ("attempt", "1.5"),
      ("networkState", #""wifi""#), ("networkState", nil), ("tzOffset", "1441"), ("tzOffset", "-1441"),
      ("appState", #""asleep""#), ("timestamp", #""yesterday""#), ("timestamp", "-1"), ("timestamp", "32503680000001"),
      ("timestamp", nil), ("text", #""free""#),
    ] as [(String, String?)])
  func rejected(field: String, value: String?) throws {
    let document = try Self.batch([Self.event(), Self.event([field: value]), Self.event()])
    #expect(document.events.count == 2)
    #expect(document.rejections == [TelemetryDocument.Rejection(index: 1, field: field)], "\(value ?? "nil")")
  }

  @Test(
    "the edges are taken",
    arguments: [
      ("whenMs", "0"), ("whenMs", "32503680000000"), ("attempt", "0"), ("attempt", "2147483647"), ("tzOffset", "-1440"),
      ("tzOffset", "1440"), ("timestamp", "0"), ("timestamp", "32503680000000"),
    ])
  func edges(field: String, value: String) throws {
    #expect(try Self.batch([Self.event([field: value])]).rejections == [])
  }

  @Test("what is no event is rejected as a whole")
  func noEvent() throws {
    for text in ["null", "7", "[]", #""armed""#] {
      #expect(try Self.batch([text]).rejections == [TelemetryDocument.Rejection(index: 0, field: nil)], "\(text)")
    }
  }

  @Test("a batch of none and of a hundred is taken, one of 101 and what is no batch are refused")
  func bounds() throws {
    #expect(try Self.batch([]).events.isEmpty)
    #expect(try Self.batch(Array(repeating: "{}", count: 100)).rejections.count == 100)
    #expect(throws: ProblemDetails.self) { try Self.batch(Array(repeating: "{}", count: 101)) }
    for text in ["[]", "{}", #"{"events":{}}"#, #"{"events":[],"more":1}"#, #"{"events":[{]}"#, ""] {
      #expect(throws: ProblemDetails.self, "\(text)") {
        try RequestContent.decode(TelemetryDocument.self, from: Array(text.utf8))
      }
    }
  }

  @Test(
    "a time is never to come and never older than fourteen days",
    arguments: [(0, 0), (1, 0), (-1, -1), (-1_209_600, -1_209_600), (-1_209_601, -1_209_600)] as [(Int64, Int64)])
  func times(seconds: Int64, clamped: Int64) {
    let now: Int64 = 1_795_330_800_000_000
    #expect(ReportTime.clamped(now + seconds * 1_000_000, now: now) == now + clamped * 1_000_000)
  }
}
