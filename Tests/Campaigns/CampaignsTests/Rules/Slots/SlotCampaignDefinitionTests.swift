import PushRules
import TemporalReferences
import TestRepository
import Testing

@testable import Campaigns
@testable import PushStore

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
    let read = try CampaignDefinition(
      json: """
        {"slots": [{"slot": "2000", "phase": "evening", "weekdays": [7, 1]}, {"slot": "0800"}], "way": "local",
         "category": {"id": "A.b-c_1", "actions": [{"id": "YES", "title": "Yes ✓", "foreground": false},
                                                   {"id": "NO", "title": "No", "foreground": true}]},
         "pools": {"x.evening": [{"text": "Rest"}]}, "pool": "{{group}}.{{phase}}",
         "texts": [{"if": {"phase": "evening", "streak": {"above": 3.5}}, "title": "Day {{streak}}", "body": "{{text}}"},
                   {"title": "Hi", "body": "You"}],
         "payload": {"screen": "today"}, "content": {"url": "https://host.example/{user_id}?a=b"}}
        """)
    #expect(read.slots.map(\.slot) == ["2000", "0800"])
    #expect(read.slots.map(\.phase) == ["evening", nil])
    #expect(read.slots.map(\.weekdays) == [[1, 7], nil])
    #expect(read.way == .local)
    #expect(read.category.id == "A.b-c_1")
    #expect(read.category.actions.map(\.title) == ["Yes ✓", "No"])
    #expect(read.category.actions.map(\.isForeground) == [false, true])
    #expect(read.pools?.entries == ["x.evening": [["text": "Rest"]]])
    #expect(read.texts.first?.conditions == ["phase": .equals("evening"), "streak": .above(3.5)])
    #expect(read.payload == ["screen": TextTemplate("today")])
    #expect(read.content?.url == "https://host.example/{user_id}?a=b")
  }

  @Test("only slots and texts are required")
  func defaults() throws {
    let read = try CampaignDefinition(json: SlotSample.json())
    #expect(read.way == .auto)
    #expect(read.category == .daily)
    #expect(read.category.id == "TS_DAILY")
    #expect(read.category.actions.map(\.id) == ["OPEN"])
    #expect(read.category.actions.map(\.isForeground) == [true])
    #expect(read.pools == nil && read.content == nil)
    #expect(read.payload == ["action": TextTemplate("open")])
  }

  @Test(
    "a document that is no definition is refused",
    arguments: [
      ("", "$ not_json"), ("{", "$ not_json"), ("[]", "$ wrong_type"), ("null", "$ wrong_type"),
      (#"{"slots":null}"#, "slots wrong_type"), (#"{"slots":[{"slot":"0800"}]}"#, "texts missing_key"),
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
}

private func defect(_ key: String, _ value: String) -> String? {
  defect(SlotSample.json(more: #","\#(key)":\#(value)"#))
}

private func texts(_ texts: String) -> String? { defect(SlotSample.json(texts: texts)) }

private func many(_ element: String, _ count: Int) -> String {
  "[" + Array(repeating: element, count: count).joined(separator: ",") + "]"
}

private func letters(_ count: Int) -> String { String(repeating: "x", count: count) }

private let action = #"{"id":"A","title":"a","foreground":true}"#

@Suite("The parts of a slot campaign's definition")
struct SlotCampaignPartsTests {
  @Test(
    "a category has an identifier and actions",
    arguments: [
      ("[]", "category wrong_type"), (#"{"id":"A"}"#, "category.actions missing_key"),
      (#"{"actions":[]}"#, "category.id missing_key"), (#"{"id":1,"actions":[]}"#, "category.id wrong_type"),
      (#"{"id":"","actions":[]}"#, "category.id out_of_range"),
      (#"{"id":"a b","actions":[]}"#, "category.id out_of_range"),
      (#"{"id":"é","actions":[]}"#, "category.id out_of_range"),
      (#"{"id":"\#(letters(64))","actions":[\#(action)]}"#, nil),
      (#"{"id":"\#(letters(65))","actions":[\#(action)]}"#, "category.id out_of_range"),
      (#"{"id":"A","actions":[],"x":1}"#, "category.x unknown_key"),
      (#"{"id":"A","actions":[]}"#, nil),
      (#"{"id":"A","actions":\#(many(action, 2))}"#, "category.actions[1].id repeated"),
      (#"{"id":"A","actions":\#(many(action, 11))}"#, "category.actions out_of_range"),
    ] as [(String, String?)])
  func categories(category: String, expected: String?) {
    #expect(defect("category", category) == expected)
  }

  @Test(
    "an action has an identifier, a title and a way to run",
    arguments: [
      ("1", " wrong_type"), ("{}", ".id missing_key"), (#"{"id":"A"}"#, ".title missing_key"),
      (#"{"id":"A","title":"a"}"#, ".foreground missing_key"),
      (#"{"id":"A","title":"a","foreground":"no"}"#, ".foreground wrong_type"),
      (#"{"id":"a/b","title":"a","foreground":true}"#, ".id out_of_range"),
      (#"{"id":"A","title":" ","foreground":true}"#, ".title out_of_range"),
      (#"{"id":"A","title":"a\nb","foreground":true}"#, ".title out_of_range"),
      (#"{"id":"A","title":"\#(letters(64))","foreground":true}"#, nil),
      (#"{"id":"A","title":"\#(letters(65))","foreground":true}"#, ".title out_of_range"),
      (#"{"id":"A","title":"a","foreground":true,"icon":"x"}"#, ".icon unknown_key"),
    ] as [(String, String?)])
  func actions(action: String, expected: String?) {
    let category = #"{"id":"A","actions":[\#(action)]}"#
    #expect(defect("category", category) == expected.map { "category.actions[0]" + $0 })
  }

  @Test(
    "pools hold entries of strings",
    arguments: [
      ("[]", "pools wrong_type"), ("{}", "pools out_of_range"), (#"{"a":{}}"#, "pools.a wrong_type"),
      (#"{"a":[]}"#, "pools.a out_of_range"), (#"{"":[{"t":"x"}]}"#, "pools. out_of_range"),
      (#"{"a ":[{"t":"x"}]}"#, "pools.a  out_of_range"), (#"{"a":["x"]}"#, "pools.a[0] wrong_type"),
      (#"{"a":[{"t":"x"},{}]}"#, "pools.a[1] out_of_range"), (#"{"a":[{"t":10}]}"#, "pools.a[0].t wrong_type"),
      (#"{"a":[{"t":" "}]}"#, "pools.a[0].t out_of_range"), (#"{"a":[{"t":"x\ty"}]}"#, "pools.a[0].t out_of_range"),
      (#"{"a":[{"T":"x"}]}"#, "pools.a[0].T unknown_key"), (#"{"a":[{"time":"x"}]}"#, "pools.a[0].time unknown_key"),
      (#"{"a":\#(many(#"{"t":"x"}"#, 366))}"#, nil), (#"{"a":\#(many(#"{"t":"x"}"#, 367))}"#, "pools.a out_of_range"),
    ] as [(String, String?)])
  func pools(pools: String, expected: String?) {
    #expect(defect(#"pool":"a","pools"#, pools) == expected)
  }

  @Test(
    "the way is a known word, and content has an address",
    arguments: [
      ("way", #""push""#, nil), ("way", #""local""#, nil), ("way", #""auto""#, nil),
      ("way", #""Push""#, "way unknown_word"), ("way", "1", "way wrong_type"), ("way", "null", "way wrong_type"),
      ("content", #""https://a""#, "content wrong_type"), ("content", "{}", "content.url missing_key"),
      ("content", #"{"url":1}"#, "content.url wrong_type"),
      ("content", #"{"url":"https://a","ttl":1}"#, "content.ttl unknown_key"),
    ] as [(String, String, String?)])
  func members(key: String, value: String, expected: String?) {
    #expect(defect(key, value) == expected)
  }

  @Test(
    "pools and the name of the pool come together",
    arguments: [
      (#"pools":{"a":[{"t":"x"}]},"way"#, #""auto""#, "pool missing_key"), ("pool", #""a""#, "pools missing_key"),
      (#"pools":{"a":[{"t":"x"}]},"pool"#, #""{{a""#, "pool invalid_template"),
      (#"pools":{"a":[{"t":"x"}]},"pool"#, "1", "pool wrong_type"),
      (#"pools":{"a":[{"t":"x"}]},"pool"#, #""\#(letters(81))""#, "pool out_of_range"),
    ])
  func poolNames(key: String, value: String, expected: String) {
    #expect(defect(key, value) == expected)
  }

  @Test(
    "a text has a title and a body, and conditions on values",
    arguments: [
      ("[]", "texts out_of_range"), ("{}", "texts wrong_type"), ("[1]", "texts[0] wrong_type"),
      (#"[{"body":"b"}]"#, "texts[0].title missing_key"), (#"[{"title":"t"}]"#, "texts[0].body missing_key"),
      (#"[{"title":"t","body":"b"},{"title":"t","body":1}]"#, "texts[1].body wrong_type"),
      (#"[{"title":"t","body":"b","subtitle":"s"}]"#, "texts[0].subtitle unknown_key"),
      (#"[{"title":"\#(letters(256))","body":"\#(letters(2048))"}]"#, nil),
      (#"[{"title":"\#(letters(257))","body":"b"}]"#, "texts[0].title out_of_range"),
      (#"[{"title":"t","body":"\#(letters(2049))"}]"#, "texts[0].body out_of_range"),
      (#"[{"title":"","body":"b"}]"#, "texts[0].title invalid_template"),
      (#"[{"title":"t","body":"\u200b "}]"#, "texts[0].body invalid_template"),
      (#"[{"if":[],"title":"t","body":"b"}]"#, "texts[0].if wrong_type"),
      (#"[{"if":{},"title":"t","body":"b"}]"#, nil),
      (#"[{"if":{"a":true},"title":"t","body":"b"}]"#, "texts[0].if.a wrong_type"),
      (#"[{"if":{"a":1},"title":"t","body":"b"}]"#, "texts[0].if.a wrong_type"),
      (#"[{"if":{"a":""},"title":"t","body":"b"}]"#, "texts[0].if.a out_of_range"),
      (#"[{"if":{"A":"b"},"title":"t","body":"b"}]"#, "texts[0].if.A unknown_key"),
      (#"[{"if":{"a":{}},"title":"t","body":"b"}]"#, "texts[0].if.a.above missing_key"),
      (#"[{"if":{"a":{"above":"3"}},"title":"t","body":"b"}]"#, "texts[0].if.a.above wrong_type"),
      (#"[{"if":{"a":{"below":3}},"title":"t","body":"b"}]"#, "texts[0].if.a.below unknown_key"),
      (#"[{"title":["t","u"],"body":["b","c"]}]"#, nil),
      (#"[{"title":["t","u"],"body":"b"}]"#, "texts[0].title out_of_range"),
      (#"[{"title":"t","body":"b","counted":"n"}]"#, "texts[0].counted missing_key"),
      (#"[{"title":"t","body":"b","plural":{"one":{"title":"t","body":"b"}}}]"#, "texts[0].counted missing_key"),
      (#"[{"title":"t","body":"b","counted":"n","plural":{"some":{}}}]"#, "texts[0].plural.some unknown_key"),
      (
        #"[{"title":"t","body":"b","counted":"n","plural":{"one":{"title":"t"}}}]"#,
        "texts[0].plural.one.body missing_key"
      ),
      (many(#"{"title":"t","body":"b"}"#, 100), nil), (many(#"{"title":"t","body":"b"}"#, 101), "texts out_of_range"),
    ] as [(String, String?)])
  func textLists(json: String, expected: String?) {
    #expect(texts(json) == expected)
  }

  @Test(
    "reserved members of the payload are refused",
    arguments: [
      "aps", "type", "push_log_id", "subject_id", "domain", "push_type", "slot", "fire_date", "phase", "micro_action",
      "identifier",
    ])
  func reserved(key: String) {
    #expect(defect("payload", #"{"\#(key)":"x"}"#) == "payload.\(key) unknown_key")
  }

  @Test(
    "an address is absolute, printable and knows one placeholder",
    arguments: [
      ("https://host/x", true), ("http://127.0.0.1:8080/x?y=z", true), ("https://host/{user_id}/{user_id}", true),
      ("https://[::1]/", true), ("", false), ("host/x", false), ("ftp://host/", false), ("HTTPS://host/", false),
      ("https://", false), ("https:///x", false), ("https://?x", false), ("https://{user_id}.host/", false),
      ("https://host/a b", false), ("https://host/\\u0000", false), ("https://host/é", false),
      ("https://host/{user}", false), ("https://a:b@host/", false), ("https://host/{{user_id}}", false),
      ("https://host/}", false),
      ("https://host/" + letters(2_035), true), ("https://host/" + letters(2_036), false),
    ])
  func addresses(url: String, isValid: Bool) {
    #expect(defect("content", #"{"url":"\#(url)"}"#) == (isValid ? nil : "content.url out_of_range"))
  }
}

/// Makes values of slots of which a test names only what matters to it.
enum SlotSample {
  /// - Parameter clock: the hour and minute of UTC when it is due; nil for the slot's own.
  static func occasion(
    _ slot: String = "0800", phase: String? = "morning", on day: String = "2026-03-11", clock: String? = nil,
    user: String = "user"
  ) throws -> Occasion {
    let clock = try #require(Int(clock ?? slot))
    let day = try #require(CivilDay(day))
    return Occasion(
      campaign: "ritual", userID: HostID(text: user), slot: slot, phase: phase, fireDate: day.description,
      fireAt: Int64(day.number * 86_400 + clock / 100 * 3_600 + clock % 100 * 60) * 1_000_000, timeZone: "UTC")
  }

  /// A definition with one text; other keys are replaced or added.
  static func json(
    slots: String = #"[{"slot":"0800"}]"#, texts: String = #"[{"title":"Hi","body":"You"}]"#, more: String = ""
  ) -> String {
    #"{"slots":\#(slots),"texts":\#(texts)\#(more)}"#
  }

  static func definition(title: String, body: String = "b", more: String = "") throws -> CampaignDefinition {
    try CampaignDefinition(json: json(texts: #"[{"title":"\#(title)","body":"\#(body)"}]"#, more: more))
  }

  static func values(_ json: String) throws -> CampaignValues { try #require(CampaignValues(json: json)) }

  static func ritual() throws -> CampaignDefinition {
    let parts = try Repository.text("db/campaigns/ritual.sql").split(separator: "$json$")
    return try CampaignDefinition(json: String(parts[1]))
  }
}
