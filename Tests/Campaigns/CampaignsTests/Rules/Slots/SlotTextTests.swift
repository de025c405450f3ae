import Foundation
import PushRules
import Testing

@testable import Campaigns
@testable import PushStore

private let family = "👨‍👩‍👧‍👦"

private func text(_ count: Int, _ cluster: String) -> String { String(repeating: cluster, count: count) }

@Suite("The texts of slots")
struct SlotTextTests {
  @Test("tokens of the fire time are filled")
  func fireTime() throws {
    let read = try SlotSample.definition(title: "{date} {time}", body: "{slot} {phase} {fire_date}")
    let text = read.words(for: try SlotSample.occasion(), values: CampaignValues())
    #expect(text?.words.title == "2026-03-11 08:00")
    #expect(text?.words.body == "0800 morning 2026-03-11")
    #expect(text?.missing == 0)
    let late = read.words(for: try SlotSample.occasion("0230", clock: "0330"), values: CampaignValues())
    #expect(late?.words.title == "2026-03-11 03:30")
    #expect(late?.words.body == "0230 morning 2026-03-11")
  }

  @Test("no source can replace the fire time")
  func precedence() throws {
    let values = try SlotSample.values(
      #"{"date":"x","time":"x","slot":"x","phase":"x","fire_date":"x","a":"material","b":"material"}"#)
    let pools = #","pools":{"p":[{"b":"pool"}]},"pool":"p""#
    let read = try SlotSample.definition(
      title: "{date} {time} {slot} {phase}", body: "{a} {b}", more: pools)
    let text = read.words(for: try SlotSample.occasion(phase: nil), values: values)
    #expect(text?.words.title == "2026-03-11 08:00 0800 [Content]")
    #expect(text?.words.body == "material pool")
  }

  @Test(
    "a token without a value shows a placeholder and is counted",
    arguments: [
      ("{}", "[Content], [Content]", 3), (#"{"a":null,"b":" "}"#, "[Content], [Content]", 3),
      (#"{"a":["x"],"b":"y"}"#, "[Content], y", 2), (#"{"a":"x","b":"y"}"#, "x, y", 0),
      (#"{"a":"x"}"#, "x, [Content]", 1),
    ])
  func missing(json: String, body: String, count: Int) throws {
    let read = try SlotSample.definition(title: "Hi {a}", body: "{a}, {b}")
    let text = try #require(read.words(for: SlotSample.occasion(), values: SlotSample.values(json)))
    #expect(text.words.body == body)
    #expect(text.missing == count)
  }

  @Test("a value is never read for tokens, and is not escaped")
  func hostileValues() throws {
    let read = try SlotSample.definition(title: "{a}{b}", body: "{b}")
    let values = try SlotSample.values(#"{"a":"{{b}} {{","b":"}} <i>&amp;\n\u0000{{a}}"}"#)
    let text = read.words(for: try SlotSample.occasion(), values: values)
    #expect(text?.words.title == "{{b}} {{}} <i>&amp; {{a}}")
    #expect(text?.words.body == "}} <i>&amp; {{a}}")
    #expect(text?.missing == 0)
  }

  @Test("texts are cut between clusters, the ellipsis counted", arguments: ["a", family, "e\u{301}", "🇩🇪", "👍🏽"])
  func limits(cluster: String) throws {
    let read = try SlotSample.definition(title: "{t}", body: "{b}")
    func rendered(_ title: Int, _ body: Int) throws -> (words: OccasionWords, missing: Int)? {
      let values = try SlotSample.values(#"{"t":"\#(text(title, cluster))","b":"\#(text(body, cluster))"}"#)
      return read.words(for: try SlotSample.occasion(), values: values)
    }
    let within = try rendered(50, 200)
    #expect(within?.words.title == text(50, cluster) && within?.words.body == text(200, cluster))
    let beyond = try rendered(51, 201)
    #expect(beyond?.words.title == text(49, cluster) + "…" && beyond?.words.body == text(199, cluster) + "…")
  }

  @Test(
    "the first text whose conditions hold is used; without one there is no text",
    arguments: [
      (#"{"mood":"good"}"#, "good"), (#"{"mood":"bad","n":3}"#, nil), (#"{"mood":"bad","n":3.5}"#, "many"),
      (#"{"n":"4"}"#, "many"), (#"{"n":"four"}"#, nil), (#"{"n":null}"#, nil), ("{}", nil), (#"{"n":true}"#, nil),
      (#"{"n":"nan"}"#, nil), (#"{"mood":"Good"}"#, nil), (#"{"mood":"good","n":9}"#, "good"),
    ] as [(String, String?)])
  func conditions(json: String, title: String?) throws {
    let texts = """
      [{"if":{"mood":"good","phase":"morning"},"title":"good","body":"b"},
       {"if":{"n":{"above":3}},"title":"many","body":"b"}]
      """
    let read = try CampaignDefinition(json: SlotSample.json(texts: texts))
    #expect(read.words(for: try SlotSample.occasion(), values: try SlotSample.values(json))?.words.title == title)
  }

  @Test("the data holds the payload and the row's members, sorted")
  func data() throws {
    let more = #","pools":{"p":[{"a":"x"}]},"pool":"p","payload":{"url":"app://x/\"y\"","action":"é"}"#
    let occasion = try SlotSample.occasion()
    let used = try SlotSample.definition(title: "{a}", more: more).words(for: occasion, values: CampaignValues())
    #expect(
      used?.words.data
        == #"{"action":"é","fire_date":"2026-03-11","micro_action":0,"phase":"morning","slot":"0800","url":"app://x/\"y\""}"#
    )
    let plain = try SlotSample.definition(title: "t", more: more)
    let text = plain.words(for: try SlotSample.occasion(phase: nil), values: CampaignValues())
    #expect(text?.words.data == #"{"action":"é","fire_date":"2026-03-11","slot":"0800","url":"app://x/\"y\""}"#)
  }

  @Test("the data is JSON for any payload and phase")
  func escapes() throws {
    let hostile = (0...0x7F).map { String(Unicode.Scalar($0)) }.joined() + "é👨‍👩‍👧‍👦\u{2028}\u{FFFF}\u{301}"
    let definition = try CampaignDefinition(json: SlotSample.json())
    let read = CampaignDefinition(
      slots: definition.slots, way: .auto, category: .daily, content: nil, layers: [], occasion: nil, composer: nil,
      pools: nil, texts: definition.texts,
      payload: ["a": TextTemplate(hostile, isName: { _ in false }), hostile: TextTemplate("b")], hasCollapseID: false)
    let text = try #require(read.words(for: SlotSample.occasion(phase: hostile), values: CampaignValues()))
    #expect(
      try JSONDecoder().decode([String: String].self, from: Data(text.words.data.utf8))
        == ["a": hostile, hostile: "b", "phase": hostile, "slot": "0800", "fire_date": "2026-03-11"])
  }

  @Test("an unknown pool gives no values", arguments: [#"{"group":"x"}"#, "{}", #"{"group":"{phase}"}"#])
  func unknownPool(json: String) throws {
    let more = #","pools":{"a":[{"text":"x"}],"[Content]":[{"text":"y"}]},"pool":"{group}""#
    let read = try SlotSample.definition(title: "{text}", more: more)
    let text = read.words(for: try SlotSample.occasion(), values: try SlotSample.values(json))
    #expect(text?.words.title == "[Content]")
    #expect(text?.missing == 1)
    #expect(text?.words.data.contains("micro_action") == false)
  }

  @Test("a row is named by its campaign, slot and day")
  func identifiers() throws {
    let occasion = try SlotSample.occasion("2000", phase: "evening", on: "2026-12-31")
    #expect(occasion.identifier == "ritual.2000.2026-12-31")
    #expect(occasion.values["time"] == "20:00")
  }

  @Test(
    "the time is that of the user's clock; in a zone that only the database has it is the slot's",
    arguments: [("Asia/Kolkata", "08:00"), ("Database/Only", "02:30"), ("America/St_Johns", "00:00")])
  func clocks(timeZone: String, time: String) {
    let occasion = Occasion(
      campaign: "daily", userID: HostID(text: "1"), slot: "0230", fireDate: "2026-03-11",
      fireAt: 1_773_196_200_000_000, timeZone: timeZone)
    #expect(occasion.values["time"] == time)
  }
}

@Suite("Reminders of slots")
struct SlotReminderTests {
  private static let bodies = #"["a {streak}","b","c {name}","d"]"#

  private static func definition(_ texts: String, more: String = "") throws -> CampaignDefinition {
    try CampaignDefinition(json: SlotSample.json(texts: texts, more: more))
  }

  @Test("bodies take turns by user and day; one without its value is left out where others have theirs")
  func turns() throws {
    let read = try Self.definition(#"[{"title":"t","body":\#(Self.bodies)}]"#)
    func bodies(_ user: String, _ values: String) throws -> [String] {
      try ["2026-03-09", "2026-03-10", "2026-03-11", "2026-03-12"].map { day in
        let occasion = try SlotSample.occasion(on: day, user: user)
        return try #require(read.words(for: occasion, values: SlotSample.values(values))).words.body
      }
    }
    let all = try bodies("1", #"{"streak":3,"name":"Ana"}"#)
    #expect(Set(all) == ["a 3", "b", "c Ana", "d"])
    #expect(try bodies("1", #"{"streak":3,"name":"Ana"}"#) == all)
    let firsts = try (0..<16).map { try bodies("\($0)", #"{"streak":3,"name":"Ana"}"#)[0] }
    #expect(Set(firsts).count > 1)
    #expect(Set(try bodies("1", "{}")) == ["b", "d"])
    let none = try Self.definition(#"[{"title":"t","body":["x {a}","y {b}"]}]"#)
    #expect(try #require(none.words(for: SlotSample.occasion(), values: CampaignValues())).missing == 1)
  }

  @Test("a condition asks whether a value is known", arguments: [(#"{"name":"Ana"}"#, "Hi Ana"), ("{}", "Hi")])
  func known(values: String, title: String) throws {
    let read = try Self.definition(
      #"[{"if":{"name":{"known":true}},"title":"Hi {name}","body":"b"},{"title":"Hi","body":"b"}]"#)
    #expect(read.words(for: try SlotSample.occasion(), values: try SlotSample.values(values))?.words.title == title)
  }

  @Test(
    "definitions with a mistake are refused at its place",
    arguments: [
      (#"[{"title":"t","body":[]}]"#, "", "texts[0].body out_of_range"),
      (#"[{"title":"t","body":["{{"]}]"#, "", "texts[0].body[0] invalid_template"),
      (#"[{"if":{"a":{"known":false}},"title":"t","body":"b"}]"#, "", "texts[0].if.a.known out_of_range"),
      (#"[{"if":{"a":{"known":true,"above":1}},"title":"t","body":"b"}]"#, "", "texts[0].if.a.known out_of_range"),
      (#"[{"title":"t","body":"b"}]"#, #","composer":{}"#, "composer.task missing_key"),
      (#"[{"title":"t","body":"b"}]"#, #","composer":{"task":"x","titles":[]}"#, "composer.titles out_of_range"),
      (#"[{"title":"t","body":"b"}]"#, #","composer":{"task":"x","titles_by":"A"}"#, "composer.titles_by out_of_range"),
      (#"[{"title":"t","body":"b"}]"#, #","presentation":{"category":"A"}"#, "presentation.category unknown_key"),
      (#"[{"title":"t","body":"b"}]"#, #","presentation":{"sound":1}"#, "presentation.sound wrong_type"),
      (#"[{"title":"t","body":"b"}]"#, #","presentation":{"badge":"1"}"#, "presentation.badge wrong_type"),
      (#"[{"title":"t","body":"b"}]"#, #","payload":{"a":1}"#, "payload.a wrong_type"),
    ])
  func defects(texts: String, more: String, expected: String) {
    do {
      _ = try Self.definition(texts, more: more)
      Issue.record("read")
    } catch {
      #expect(
        "\((error as? DefinitionDefect).map { "\($0.field) \($0.code.rawValue)" } ?? "\(error)")" == expected)
    }
  }

  @Test("the payload's tokens are filled, and a member without its value is left out")
  func payload() throws {
    let more =
      #","payload":{"mealType":"{phase}","image":"{image_key}","fixed":"x","as":"{{slot}} {\"a\":1} {B}"},"presentation":{"collapse_id":"meal_{phase}"}"#
    let read = try SlotSample.definition(title: "t", more: more)
    let text = read.words(for: try SlotSample.occasion(), values: CampaignValues())
    #expect(
      text?.words.data
        == #"{"as":"0800 {\"a\":1} {B}","fire_date":"2026-03-11","fixed":"x","identifier":"ritual.0800.2026-03-11","mealType":"morning","phase":"morning","slot":"0800"}"#
    )
  }

  @Test("material has values of single slots and weekdays, and says what is done already")
  func material() throws {
    let material = try #require(
      CampaignValues(
        json: #"{"type":"workout","slots":{"0800":{"type":"Run"},"0800.3":{"type":"Swim"},"0900.3":{"type":"Row"}}}"#))
    #expect(material.skip == nil)
    func type(_ slot: String, _ day: String) throws -> String? {
      material.values(for: try SlotSample.occasion(slot, on: day)).lines["type"]
    }
    #expect(try type("0800", "2026-03-10") == "Run")
    #expect(try type("0800", "2026-03-11") == "Swim")
    #expect(try type("0900", "2026-03-10") == "workout")
    #expect(CampaignValues(json: #"{"skip":"already_done"}"#)?.skip == "already_done")
    #expect(CampaignValues(json: #"{"skip":"whatever 7"}"#)?.skip == "not_wanted")
    #expect(CampaignValues(json: #"{"slots":[1]}"#)?.skip == nil)
    #expect(CampaignValues(json: "[]") == nil)
  }

  @Test("titles above a model's body take turns by a value, and the prompt tells what is known")
  func drafts() throws {
    let more =
      #","composer":{"task":"Remind.","facts":["type","weekday","streak"],"titles":["A {type}","B","C"],"titles_by":"streak"}"#
    let read = try Self.definition(#"[{"title":"Workout Time!","body":"b"}]"#, more: more)
    func draft(_ values: String) throws -> Draft.Question {
      try #require(
        read.question(for: SlotSample.occasion(), values: SlotSample.values(values), title: "Workout Time!"))
    }
    let titles = try (0...4).map { streak in try draft(#"{"type":"Run","streak":\#(streak)}"#).check.title }
    #expect(titles == ["A Run", "B", "C", "A Run", "B"])
    #expect(try draft(#"{"type":"Run"}"#).check.title == "A Run")
    let untyped = try (0...1).map { streak in try draft(#"{"streak":\#(streak)}"#).check.title }
    #expect(untyped == ["B", "C"])
    #expect(
      try draft(#"{"type":"Run","streak":2}"#).prompt.material
        == "Task: Remind.\n\n<person>\ntype: Run\nweekday: Wednesday\nstreak: 2\n</person>")
    let plain = try Self.definition(#"[{"title":"Hello","body":"b"}]"#, more: #","composer":{"task":"Greet."}"#)
    let asked = plain.question(for: try SlotSample.occasion(), values: CampaignValues(), title: "Hello")
    #expect(asked?.check.title == "Hello")
    let none = try SlotSample.definition(title: "t")
    #expect(try none.question(for: SlotSample.occasion(), values: CampaignValues(), title: "t") == nil)
  }
}

@Suite("The values of slots")
struct CampaignValuesTests {
  @Test(
    "strings, numbers and booleans are values",
    arguments: [
      (#""Low Flame""#, "Low Flame"), ("4", "4"), ("4.0", "4"), ("-1", "-1"), ("4.5", "4.5"), ("true", "true"),
      ("false", "false"), ("9007199254740993", "9007199254740993"), (#""4""#, "4"), (#""<b> & 'x'""#, "<b> & 'x'"),
    ])
  func kinds(json: String, line: String) {
    #expect(CampaignValues(json: #"{"a":\#(json),"b":"c"}"#)?.lines == ["a": line, "b": "c"])
  }

  @Test(
    "null, blank, nested and impossible members are absent, and the others stay",
    arguments: [
      "null", #""""#, #"" \n\t""#, #""\u200b\u202e""#, #""\u0000""#, "[]", #"["x"]"#, #"{"x":"y"}"#, "1e999",
    ])
  func absent(json: String) {
    #expect(CampaignValues(json: #"{"a":\#(json),"b":"c"}"#)?.lines == ["b": "c"])
  }

  @Test(
    "a text that is not an object is refused",
    arguments: [
      "", " ", "null", "[]", #"[{"a":"b"}]"#, #""a""#, "1", "{", #"{"a"}"#, #"{"a":"b"} x"#, "<html>", "\u{0}",
    ])
  func documents(json: String) {
    #expect(CampaignValues(json: json) == nil)
  }

  @Test("a document has a largest size", arguments: [(65_536, true), (65_537, false)])
  func size(bytes: Int, isRead: Bool) {
    let json = #"{"a":"\#(String(repeating: "x", count: bytes - 8))"}"#
    #expect(json.utf8.count == bytes)
    #expect((CampaignValues(json: json) != nil) == isRead)
  }

  @Test("deep nesting is absent or refused, and never a crash")
  func depth() {
    let shallow = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
    #expect(CampaignValues(json: #"{"a":\#(shallow),"b":"c"}"#)?.lines == ["b": "c"])
    #expect(CampaignValues(json: #"{"a":\#(String(repeating: "[", count: 65_000))"#) == nil)
  }

  @Test("values stay on one line, without control characters, and are bounded")
  func lines() throws {
    let values = try SlotSample.values(
      #"{"a":" x\r\n\u0000\u0007y\u202ez ","b":"\#(String(repeating: "v", count: 9_000))"}"#)
    #expect(values.lines["a"] == "x yz")
    #expect(values.lines["b"]?.count == 2_400)
  }

  @Test("the document's values are over the material's")
  func overlaid() throws {
    let material = try SlotSample.values(#"{"a":"material","b":"material"}"#)
    let content = try SlotSample.values(#"{"b":"content","c":"content","a":null}"#)
    #expect(material.overlaid(with: content).lines == ["a": "material", "b": "content", "c": "content"])
    #expect(material.overlaid(with: CampaignValues()) == material)
  }
}

@Suite("Slot times")
struct SlotTimeTests {
  @Test(
    "four digits of a day are a time; other texts are not",
    arguments: [
      ("0000", true), ("0009", true), ("0800", true), ("2359", true), ("", false), ("800", false), ("08000", false),
      ("2400", false), ("0860", false), ("2360", false), ("08:00", false), (" 800", false), ("0800 ", false),
      ("+800", false), ("-800", false), ("0x10", false), ("٠٨٠٠", false), ("０８００", false), ("08a0", false),
      ("8am", false), ("080\u{0}", false), ("9999", false), ("0800\n", false),
    ])
  func read(text: String, isTime: Bool) {
    #expect(UserSlot.isSlot(text) == isTime)
  }

  @Test("there are as many as minutes of a day")
  func all() {
    #expect((0..<10_000).filter { UserSlot.isSlot(String(String(10_000 + $0).dropFirst())) }.count == 1_440)
  }
}
