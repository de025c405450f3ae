import Foundation
import Testing

@testable import TacetClient

@Suite("What a push carries")
struct PushContentTests {
  @Test("a message names its conversation and its row of the ledger")
  func message() {
    let id = UUID()
    let content = PushContent([
      "aps": ["alert": ["title": "Ada"]], "type": "message", "conversation_id": "c1", "message_id": "m1",
      "push_log_id": id.uuidString,
    ])
    #expect(content.type == "message" && content.conversationID == "c1" && content.messageID == "m1")
    #expect(content.pushLogID == id && content.slotIdentifier == nil && !content.announcesSchedule)
  }

  @Test("a slot's row has an identifier, also under another one on the screen")
  func slot() {
    let content = PushContent([
      "type": "workout", "slot": "0700", "fire_date": "2026-11-22", "micro_action": 4, "phase": "morning",
      "workoutType": "Run", "image_url": "https://img.example.com/a.png",
    ])
    #expect(content.slotIdentifier == "workout.0700.2026-11-22")
    #expect(content.microAction == 4 && content.phase == "morning" && content.workoutType == "Run")
    #expect(content.imageURL?.host == "img.example.com")
  }

  @Test("reads name messages, the newest first, and the badge")
  func reads() {
    let content = PushContent([
      "type": "read", "message_ids": ["b", 1, "a", ""] as [Any], "all_before": "b", "badge": 3, "conversation_id": "c",
    ])
    #expect(content.readMessageIDs == ["b", "a"] && content.allReadBefore == "b" && content.badge == 3)
    #expect(PushContent(["type": "schedule_changed"]).announcesSchedule)
  }

  private static var hostile: [[AnyHashable: Any]] {
    [
      [:], ["type": 1], ["type": ["a"]], ["type": NSNull()], ["type": "a b"], ["type": ""], [1: "message"],
      ["type": String(repeating: "a", count: 65)], ["type": "a\u{0}"],
    ]
  }

  @Test("a type of another form is absent", arguments: hostile.indices)
  func hostileType(index: Int) { #expect(PushContent(Self.hostile[index]).type == nil) }

  @Test(
    "a name has 64 bytes at most, an id 255, and neither a control character",
    arguments: [
      ("type", String(repeating: "a", count: 64), true), ("type", "a/b", false),
      ("message_id", String(repeating: "x", count: 255), true),
      ("message_id", String(repeating: "x", count: 256), false),
      ("message_id", "a/../b", true), ("message_id", "a\nb", false), ("message_id", "", false),
    ])
  func bounds(name: String, text: String, isTaken: Bool) {
    let content = PushContent([name: text])
    #expect(((content.type ?? content.messageID) == text) == isTaken)
  }

  @Test(
    "numbers are whole and not negative",
    arguments: [(0, 0), (Int(Int32.max), Int(Int32.max)), (-1, nil), (Int(Int32.max) + 1, nil), (.min, nil)]
      as [(Int, Int?)])
  func numbers(number: Int, expected: Int?) {
    #expect(PushContent(["badge": number]).badge == expected)
    #expect(PushContent(["badge": "3"]).badge == nil && PushContent(["badge": 1.5]).badge == nil)
  }

  @Test(
    "a slot's identifier has its form",
    arguments: [
      ("ritual", "0800", "2026-11-22", true), ("ritual", "2359", "2026-11-22", true),
      ("ritual", "2400", "2026-11-22", false), ("ritual", "0860", "2026-11-22", false),
      ("ritual", "080", "2026-11-22", false), ("Ritual", "0800", "2026-11-22", false),
      ("1ritual", "0800", "2026-11-22", false), ("ritual", "0800", "1026-11-22", false),
      ("ritual", "0800", "2026-1-22", false), ("ritual", "+800", "2026-11-22", false),
    ])
  func slotForm(type: String, slot: String, day: String, isSlot: Bool) {
    let content = PushContent(["type": type, "slot": slot, "fire_date": day])
    #expect((content.slotIdentifier != nil) == isSlot)
    #expect((SlotIdentifier("\(type).\(slot).\(day)") != nil) == isSlot)
  }

  @Test("too many ids of read messages are none", arguments: [(2048, 2048), (2049, 0)])
  func manyReads(count: Int, expected: Int) {
    let ids = (0..<count).map(String.init)
    #expect(PushContent(["message_ids": ids]).readMessageIDs.count == expected)
  }

  @Test(
    "an image has an https address with a host and without a user",
    arguments: [
      ("https://a.example/x.png", true), ("HTTPS://a.example/x.png", true), ("http://a.example/x.png", false),
      ("https:///x.png", false), ("file:///etc/passwd", false), ("https://u:p@a.example/x", false),
      ("https://u@a.example/x", false), ("x.png", false), ("javascript:alert(1)", false), ("https://", false),
      ("https://a.example/" + String(repeating: "x", count: 2030), true),
      ("https://a.example/" + String(repeating: "x", count: 2031), false),
    ])
  func images(address: String, isTaken: Bool) {
    #expect((PushContent(["image_url": address]).imageURL != nil) == isTaken)
  }
}
