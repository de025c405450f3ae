import Testing

@testable import Campaigns

private func defect(_ json: String) -> String? {
  do {
    _ = try CampaignDefinition(json: json)
    return nil
  } catch {
    return error.field + " " + error.code.rawValue
  }
}

/// A definition with one part replaced or added.
private func definition(
  layers: String = #"["event"]"#,
  composer: String = #"{"kind":"model","on_failure":"skip"}"#,
  more: String = ""
) -> String {
  #"{"layers":\#(layers),"composer":\#(composer)\#(more)}"#
}

@Suite("The definition of a campaign")
struct CampaignDefinitionTests {
  @Test("a full definition is read")
  func full() throws {
    let read = try CampaignDefinition(
      json: """
        {"layers": ["re_engagement", "event"], "composer": {"kind": "model", "on_failure": "template"},
         "templates": {"event_based": [{"title": "Your {event}", "body": "It is {when}."}],
                       "re_engagement": [{"title": "A thought", "body": "On {domain}?"}]},
         "payload": {"action": "new_conversation"}}
        """)
    #expect(read.layers == [.reengagement, .event])
    #expect(read.composer == .model(failure: .template))
    #expect(
      read.templates[.eventBased]?.templates == [try CampaignTemplate(title: "Your {event}", body: "It is {when}.")])
    #expect(read.templates[.patternBased] == nil)
    #expect(read.payload == ["action": .literal("new_conversation")])
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
      ("{}", "layers missing_key"), (#"{"layers":["event"]}"#, "composer missing_key"),
      (#"{"Layers":["event"]}"#, "Layers unknown_key"), (#"{"zeta":1,"alpha":1}"#, "alpha unknown_key"),
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
    "a composer is a model with a failure policy, or templates",
    arguments: [
      (#""model""#, "composer wrong_type"), ("{}", "composer.kind missing_key"),
      (#"{"kind":1}"#, "composer.kind wrong_type"),
      (#"{"kind":"human"}"#, "composer.kind unknown_word"), (#"{"kind":"model"}"#, "composer.on_failure missing_key"),
      (#"{"kind":"model","on_failure":"retry"}"#, "composer.on_failure unknown_word"),
      (#"{"kind":"template","on_failure":"skip"}"#, "composer.on_failure unknown_key"),
      (#"{"kind":"model","on_failure":"skip","x":1}"#, "composer.x unknown_key"),
      (#"{"kind":"template"}"#, "templates.event_based no_template"),
      (#"{"kind":"model","on_failure":"template"}"#, "templates.event_based no_template"),
    ])
  func composers(composer: String, expected: String) {
    #expect(defect(definition(composer: composer)) == expected)
  }

  @Test(
    "templates are named by their push type and place",
    arguments: [
      ("[]", "templates wrong_type"), (#"{"event":[]}"#, "templates.event unknown_key"),
      (#"{"event_based":{}}"#, "templates.event_based wrong_type"),
      (#"{"event_based":[1]}"#, "templates.event_based[0] wrong_type"),
      (#"{"event_based":[{"title":"a","body":"b"},{"title":"a"}]}"#, "templates.event_based[1].body missing_key"),
      (#"{"event_based":[{"title":"a","body":2}]}"#, "templates.event_based[0].body wrong_type"),
      (#"{"event_based":[{"title":"a","body":"b","c":"d"}]}"#, "templates.event_based[0].c unknown_key"),
      (#"{"event_based":[{"title":"{a","body":"b"}]}"#, "templates.event_based[0] invalid_template"),
    ])
  func templates(templates: String, expected: String) {
    #expect(defect(definition(more: #","templates":\#(templates)"#)) == expected)
  }

  @Test("a campaign of templates needs one for every layer")
  func templatesOfLayers() {
    let one = #","templates":{"event_based":[{"title":"a","body":"b"}]}"#
    let composer = #"{"kind":"template"}"#
    #expect(defect(definition(composer: composer, more: one)) == nil)
    let missing = defect(definition(layers: #"["event","pattern"]"#, composer: composer, more: one))
    #expect(missing == "templates.pattern_based no_template")
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
    let defect = #expect(throws: CampaignDefinitionDefect.self) {
      try CampaignDefinition(json: definition(composer: #"{"kind":"human"}"#))
    }
    #expect(defect?.description == "composer.kind: unknown_word, expected one of: model, template")
  }
}
