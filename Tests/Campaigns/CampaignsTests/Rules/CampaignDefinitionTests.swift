import PushRules
import Testing

@testable import Campaigns

/// The place and the kind of a definition's first defect; nil without one.
func defect(_ json: String) -> String? {
  do {
    _ = try CampaignDefinition(json: json)
    return nil
  } catch {
    return (error as? DefinitionDefect).map { $0.field + " " + $0.code.rawValue } ?? "\(error)"
  }
}

/// A definition with one part replaced or added.
private func definition(
  layers: String = #"["event"]"#,
  composer: String? = #"{"on_failure":"skip"}"#,
  more: String = ""
) -> String {
  #"{"layers":\#(layers)\#(composer.map { #","composer":\#($0)"# } ?? "")\#(more)}"#
}

@Suite("The definition of a campaign")
struct CampaignDefinitionTests {
  @Test("a full definition is read")
  func full() throws {
    let read = try CampaignDefinition(
      json: """
        {"layers": ["re_engagement", "event"], "composer": {"on_failure": "template"},
         "texts": [{"if": {"push_type": "event_based"}, "title": "Your {event}", "body": "It is {when}."},
                   {"title": "A thought", "body": "On {domain}?"}],
         "payload": {"action": "new_conversation"}}
        """)
    #expect(read.layers == [.reengagement, .event])
    #expect(read.composer?.onFailure == .template && read.composer?.task == nil)
    #expect(read.texts.map(\.conditions) == [["push_type": .equals("event_based")], [:]])
    #expect(read.texts[0].variants.map(\.names) == [["event", "when"]])
    #expect(read.payload == ["action": TextTemplate("new_conversation")])
    #expect(!read.hasSlots)
    #expect(read.occasion == nil)
  }

  @Test(
    "an occasion is there with its layer, and only with it",
    arguments: [
      (#"["occasion"]"#, #""Reflection""#, nil), (#"["event","occasion"]"#, #""x""#, nil),
      (#"["occasion"]"#, nil, "occasion missing_key"), (#"["event"]"#, #""x""#, "occasion out_of_range"),
      (#"["occasion"]"#, #""""#, "occasion out_of_range"), (#"["occasion"]"#, "1", "occasion wrong_type"),
      (#"["occasion"]"#, #""\#(String(repeating: "x", count: 80))""#, nil),
      (#"["occasion"]"#, #""\#(String(repeating: "x", count: 81))""#, "occasion out_of_range"),
    ] as [(String, String?, String?)])
  func occasions(layers: String, occasion: String?, expected: String?) {
    #expect(defect(definition(layers: layers, more: occasion.map { #","occasion":\#($0)"# } ?? "")) == expected)
  }

  @Test(
    "a document that is no definition is refused",
    arguments: [
      ("", "$ not_json"), ("{", "$ not_json"), ("[]", "$ wrong_type"), ("null", "$ wrong_type"),
      ("{}", "layers missing_key"), (#"{"layers":["event"]}"#, "texts missing_key"),
      (#"{"Layers":["event"]}"#, "Layers unknown_key"), (#"{"layers":["event"],"way":"push"}"#, "way unknown_key"),
      (#"{"zeta":1,"alpha":1}"#, "alpha unknown_key"),
    ])
  func documents(json: String, expected: String) {
    #expect(defect(json) == expected)
  }

  @Test(
    "layers are known, there, and named once",
    arguments: [
      ("[]", "layers out_of_range"), (#""event""#, "layers wrong_type"), ("[1]", "layers[0] wrong_type"),
      (#"["event","mood"]"#, "layers[1] unknown_word"), (#"["event","event"]"#, "layers[1] repeated"),
    ])
  func layers(layers: String, expected: String) {
    #expect(defect(definition(layers: layers)) == expected)
  }

  @Test(
    "a composer is a model with what happens when it fails",
    arguments: [
      (#""model""#, "composer wrong_type"), ("{}", "texts missing_key"),
      (#"{"on_failure":"retry"}"#, "composer.on_failure unknown_word"),
      (#"{"on_failure":"skip","x":1}"#, "composer.x unknown_key"),
      (#"{"titles":["t"]}"#, "composer.titles unknown_key"),
      (#"{"on_failure":"template"}"#, "texts missing_key"), (#"{"on_failure":"skip"}"#, nil),
    ] as [(String, String?)])
  func composers(composer: String, expected: String?) {
    #expect(defect(definition(composer: composer)) == expected)
  }

  @Test("a campaign whose texts may be used has one for every layer")
  func textsOfLayers() {
    let one = #","texts":[{"if":{"push_type":"event_based"},"title":"a","body":"b"}]"#
    #expect(defect(definition(composer: nil, more: one)) == nil)
    let layers = #"["event","pattern"]"#
    #expect(defect(definition(layers: layers, composer: nil, more: one)) == "texts no_text")
    #expect(defect(definition(layers: layers, composer: #"{"task":"Write."}"#, more: one)) == "texts no_text")
    #expect(defect(definition(layers: layers, more: one)) == nil)
    let any = #","texts":[{"if":{"name":{"known":true}},"title":"a","body":"b"}]"#
    #expect(defect(definition(layers: layers, composer: nil, more: any)) == nil)
  }

  @Test(
    "a payload holds strings, none of them the run's own",
    arguments: [
      ("[]", "payload wrong_type"), (#"{"a":1}"#, "payload.a wrong_type"), (#"{"aps":"x"}"#, "payload.aps unknown_key"),
      (#"{"type":"x"}"#, "payload.type unknown_key"), (#"{"subject_id":"x"}"#, "payload.subject_id unknown_key"),
      (#"{"push_log_id":"x"}"#, "payload.push_log_id unknown_key"),
      (#"{"a":"\#(String(repeating: "x", count: 1_023))"}"#, nil),
      (#"{"a":"\#(String(repeating: "x", count: 1_024))"}"#, "payload out_of_range"), ("{}", nil),
    ] as [(String, String?)])
  func payloads(payload: String, expected: String?) {
    #expect(defect(definition(more: #","payload":\#(payload)"#)) == expected)
  }

  @Test("a defect says where, what and what was expected")
  func description() {
    let defect = #expect(throws: DefinitionDefect.self) {
      try CampaignDefinition(json: definition(composer: #"{"on_failure":"retry"}"#))
    }
    #expect(defect?.description == "composer.on_failure: unknown_word, expected one of: skip, template")
  }
}
