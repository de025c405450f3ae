import Foundation
import Testing

@testable import Campaigns

@Suite("Reminders of slots")
struct SlotReminderTests {
  private static let bodies = #"["a {{streak}}","b","c {{name}}","d"]"#

  private static func definition(_ texts: String, more: String = "") throws -> SlotCampaignDefinition {
    try SlotCampaignDefinition(json: SlotSample.json(texts: texts, more: more))
  }

  @Test("bodies take turns by user and day; one without its value is left out where others have theirs")
  func turns() throws {
    let read = try Self.definition(#"[{"title":"t","body":\#(Self.bodies)}]"#)
    func bodies(_ user: [UInt8], _ values: String) throws -> [String] {
      try ["2026-03-09", "2026-03-10", "2026-03-11", "2026-03-12"].map { day in
        let occasion = try SlotSample.occasion(on: day)
        return try #require(read.text(for: occasion, values: SlotSample.values(values), user: user)).body
      }
    }
    let all = try bodies([1], #"{"streak":3,"name":"Ana"}"#)
    #expect(Set(all) == ["a 3", "b", "c Ana", "d"])
    #expect(try bodies([1], #"{"streak":3,"name":"Ana"}"#) == all)
    let firsts = try (0..<16).map { try bodies([$0], #"{"streak":3,"name":"Ana"}"#)[0] }
    #expect(Set(firsts).count > 1)
    #expect(Set(try bodies([1], "{}")) == ["b", "d"])
    let none = try Self.definition(#"[{"title":"t","body":["x {{a}}","y {{b}}"]}]"#)
    #expect(try #require(none.text(for: SlotSample.occasion(), values: SlotValues())).missingTokens == 1)
  }

  @Test("a condition asks whether a value is known", arguments: [(#"{"name":"Ana"}"#, "Hi Ana"), ("{}", "Hi")])
  func known(values: String, title: String) throws {
    let read = try Self.definition(
      #"[{"if":{"name":{"known":true}},"title":"Hi {{name}}","body":"b"},{"title":"Hi","body":"b"}]"#)
    #expect(read.text(for: try SlotSample.occasion(), values: try SlotSample.values(values))?.title == title)
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
      (#"[{"title":"t","body":"b"}]"#, #","payload":{"a":"{{B}}"}"#, "payload.a invalid_template"),
    ])
  func defects(texts: String, more: String, expected: String) {
    do {
      _ = try Self.definition(texts, more: more)
      Issue.record("read")
    } catch {
      #expect(
        "\((error as? CampaignDefinitionDefect).map { "\($0.field) \($0.code.rawValue)" } ?? "\(error)")" == expected)
    }
  }

  @Test("the payload's tokens are filled, and a member without its value is left out")
  func payload() throws {
    let more =
      #","payload":{"mealType":"{{phase}}","image":"{{image_key}}","fixed":"x"},"presentation":{"collapse_id":"meal_{{phase}}"}"#
    let read = try SlotSample.definition(title: "t", more: more)
    let text = read.text(for: try SlotSample.occasion(), values: SlotValues())
    #expect(
      text?.data
        == #"{"fire_date":"2026-03-11","fixed":"x","identifier":"ritual.0800.2026-03-11","mealType":"morning","phase":"morning","slot":"0800"}"#
    )
  }

  @Test("material has values of single slots and weekdays, and says what is done already")
  func material() throws {
    let material = try #require(
      SlotMaterial(
        json: #"{"type":"workout","slots":{"0800":{"type":"Run"},"0800.3":{"type":"Swim"},"0900.3":{"type":"Row"}}}"#))
    #expect(material.skip == nil)
    func type(_ slot: String, _ day: String) throws -> String? {
      material.values(for: try SlotSample.occasion(slot, on: day)).lines["type"]
    }
    #expect(try type("0800", "2026-03-10") == "Run")
    #expect(try type("0800", "2026-03-11") == "Swim")
    #expect(try type("0900", "2026-03-10") == "workout")
    #expect(SlotMaterial(json: #"{"skip":"already_done"}"#)?.skip == .alreadyDone)
    #expect(SlotMaterial(json: #"{"skip":"whatever 7"}"#)?.skip == .notWanted)
    #expect(SlotMaterial(json: #"{"slots":[1]}"#)?.skip == nil)
    #expect(SlotMaterial(json: "[]") == nil)
  }

  @Test("titles above a model's body take turns by a value, and the prompt tells what is known")
  func drafts() throws {
    let more =
      #","composer":{"task":"Remind.","facts":["type","weekday","streak"],"titles":["A {{type}}","B","C"],"titles_by":"streak"}"#
    let read = try Self.definition(#"[{"title":"Workout Time!","body":"b"}]"#, more: more)
    func draft(_ values: String) throws -> SlotDraft {
      try #require(read.draft(for: SlotSample.occasion(), values: SlotSample.values(values)))
    }
    let titles = try (0...4).map { streak in try draft(#"{"type":"Run","streak":\#(streak)}"#).title }
    #expect(titles == ["A Run", "B", "C", "A Run", "B"])
    #expect(try draft(#"{"type":"Run"}"#).title == "A Run")
    let untyped = try (0...1).map { streak in try draft(#"{"streak":\#(streak)}"#).title }
    #expect(untyped == ["B", "C"])
    #expect(
      try draft(#"{"type":"Run","streak":2}"#).prompt.material
        == "Task: Remind.\n\n<person>\ntype: Run\nweekday: Wednesday\nstreak: 2\n</person>")
    let plain = try Self.definition(#"[{"title":"Hello","body":"b"}]"#, more: #","composer":{"task":"Greet."}"#)
    #expect(plain.draft(for: try SlotSample.occasion(), values: SlotValues())?.title == "Hello")
    #expect(try SlotSample.definition(title: "t").draft(for: SlotSample.occasion(), values: SlotValues()) == nil)
  }
}
