import Testing

@testable import Campaigns

private func defect(_ json: String) -> String? {
  do {
    _ = try SlotCampaignDefinition(json: json)
    return nil
  } catch {
    return error.field + " " + error.code.rawValue
  }
}

private func repeated(_ element: (Int) -> String, _ count: Int) -> String {
  "[" + (0..<count).map(element).joined(separator: ",") + "]"
}

private func slots(_ count: Int) -> String {
  repeated({ #"{"slot":"\#($0 / 10)\#($0 % 10)30"}"# }, min(count, 24)).dropLast()
    + (count > 24 ? #",{"slot":"0815"}]"# : "]")
}

@Suite("The definition of a slot campaign")
struct SlotCampaignDefinitionTests {
  @Test("a full definition is read")
  func full() throws {
    let read = try SlotCampaignDefinition(
      json: """
        {"slots": [{"slot": "2000", "phase": "evening", "weekdays": [7, 1]}, {"slot": "0800"}], "way": "local",
         "category": {"id": "A.b-c_1", "actions": [{"id": "YES", "title": "Yes ✓", "foreground": false},
                                                   {"id": "NO", "title": "No", "foreground": true}]},
         "pools": {"x.evening": [{"text": "Rest"}]}, "pool": "{{group}}.{{phase}}",
         "texts": [{"if": {"phase": "evening", "streak": {"above": 3.5}}, "title": "Day {{streak}}", "body": "{{text}}"},
                   {"title": "Hi", "body": "You"}],
         "payload": {"screen": "today"}, "content": {"url": "https://host.example/{user_id}?a=b"}}
        """)
    #expect(read.slots.map(\.slot.description) == ["2000", "0800"])
    #expect(read.slots.map(\.phase) == ["evening", nil])
    #expect(read.slots.map(\.weekdays) == [[1, 7], [1, 2, 3, 4, 5, 6, 7]])
    #expect(read.way == .local)
    #expect(read.category.id == "A.b-c_1")
    #expect(read.category.actions.map(\.title) == ["Yes ✓", "No"])
    #expect(read.category.actions.map(\.isForeground) == [false, true])
    #expect(read.pools?.entries == ["x.evening": [["text": "Rest"]]])
    #expect(read.texts.first?.conditions == ["phase": .equals("evening"), "streak": .above(3.5)])
    #expect(read.payload == ["screen": .literal("today")])
    #expect(read.contentURL == "https://host.example/{user_id}?a=b")
  }

  @Test("only slots and texts are required")
  func defaults() throws {
    let read = try SlotCampaignDefinition(json: SlotSample.json())
    #expect(read.way == .auto)
    #expect(read.category == .daily)
    #expect(read.category.id == "TS_DAILY")
    #expect(read.category.actions.map(\.id) == ["OPEN"])
    #expect(read.category.actions.map(\.isForeground) == [true])
    #expect(read.pools == nil && read.contentURL == nil)
    #expect(read.payload == ["action": .literal("open")])
  }

  @Test(
    "the member slots makes it one",
    arguments: [
      (#"{"slots":null}"#, true), (SlotSample.json(), true), (#"{"layers":["event"]}"#, false), (#"["slots"]"#, false),
      (#""slots""#, false), ("", false), (#"{"slots":"#, false), (#"{"a":{"slots":[]}}"#, false),
    ])
  func kinds(json: String, expected: Bool) {
    #expect(SlotCampaignDefinition.hasSlots(json: json) == expected)
  }

  @Test(
    "a document that is no definition is refused",
    arguments: [
      ("", "$ not_json"), ("{", "$ not_json"), ("[]", "$ wrong_type"), ("null", "$ wrong_type"),
      ("{}", "slots missing_key"), (#"{"slots":[{"slot":"0800"}]}"#, "texts missing_key"),
      (#"{"slots":[],"layers":[]}"#, "layers unknown_key"), (#"{"zeta":1,"alpha":1}"#, "alpha unknown_key"),
    ])
  func documents(json: String, expected: String) {
    #expect(defect(json) == expected)
  }

  @Test(
    "there are 1 to 24 slots, each time and phase once",
    arguments: [
      (slots(0), "slots out_of_range"), (slots(1), nil), (slots(24), nil), (slots(25), "slots out_of_range"),
      ("{}", "slots wrong_type"), (#"["0800"]"#, "slots[0] wrong_type"), ("[{}]", "slots[0].slot missing_key"),
      (#"[{"slot":800}]"#, "slots[0].slot wrong_type"), (#"[{"slot":"2400"}]"#, "slots[0].slot out_of_range"),
      (#"[{"slot":"08:00"}]"#, "slots[0].slot out_of_range"),
      (#"[{"slot":"0800","time":1}]"#, "slots[0].time unknown_key"),
      (#"[{"slot":"0800"},{"slot":"0800"}]"#, "slots[1].slot repeated"),
      (#"[{"slot":"0800"},{"slot":"0801"}]"#, nil),
      (#"[{"slot":"0800","phase":"a"},{"slot":"0900","phase":"a"}]"#, "slots[1].phase repeated"),
      (#"[{"slot":"0800","phase":"a"},{"slot":"0900","phase":"b"}]"#, nil),
      (#"[{"slot":"0800","phase":1}]"#, "slots[0].phase wrong_type"),
      (#"[{"slot":"0800","phase":""}]"#, "slots[0].phase out_of_range"),
      (#"[{"slot":"0800","phase":"1a"}]"#, "slots[0].phase out_of_range"),
      (#"[{"slot":"0800","phase":"A"}]"#, "slots[0].phase out_of_range"),
      (#"[{"slot":"0800","phase":"\#(String(repeating: "a", count: 32))"}]"#, nil),
      (#"[{"slot":"0800","phase":"\#(String(repeating: "a", count: 33))"}]"#, "slots[0].phase out_of_range"),
    ] as [(String, String?)])
  func slotLists(slots: String, expected: String?) {
    #expect(defect(SlotSample.json(slots: slots)) == expected)
  }

  @Test(
    "weekdays are 1 to 7, each once",
    arguments: [
      ("[]", "weekdays out_of_range"), ("1", "weekdays wrong_type"), ("[0]", "weekdays[0] out_of_range"), ("[1]", nil),
      ("[7]", nil), ("[8]", "weekdays[0] out_of_range"), ("[1.5]", "weekdays[0] out_of_range"),
      ("[1e300]", "weekdays[0] out_of_range"), (#"["1"]"#, "weekdays[0] wrong_type"),
      ("[true]", "weekdays[0] wrong_type"), ("[2,2]", "weekdays[1] repeated"), ("[7,6,5,4,3,2,1]", nil),
      ("[1,2,3,4,5,6,7,1]", "weekdays out_of_range"),
    ] as [(String, String?)])
  func weekdays(weekdays: String, expected: String?) {
    let slots = #"[{"slot":"0800","weekdays":\#(weekdays)}]"#
    #expect(defect(SlotSample.json(slots: slots)) == expected.map { "slots[0]." + $0 })
  }

  @Test(
    "the way is a known word",
    arguments: [
      (#""push""#, nil), (#""local""#, nil), (#""auto""#, nil), (#""Push""#, "way unknown_word"),
      ("1", "way wrong_type"),
      ("null", "way wrong_type"),
    ] as [(String, String?)])
  func ways(way: String, expected: String?) {
    #expect(defect(SlotSample.json(more: #","way":\#(way)"#)) == expected)
  }
}
