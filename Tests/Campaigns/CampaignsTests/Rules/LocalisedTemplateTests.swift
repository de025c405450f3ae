import PushRules
import Testing

@testable import Campaigns

@Suite("Templates in other locales")
struct LocalisedTemplateTests {
  private func definition(_ localised: String) throws -> CampaignDefinition {
    try CampaignDefinition(
      json: """
        {"layers": ["event"], "composer": {"kind": "template"},
         "templates": {"event_based": [{"title": "Your {event}", "body": "How is it?"\(localised)}]}}
        """)
  }

  @Test(
    "the user's locale decides, with what it falls back to",
    arguments: [
      ("de", "Dein exam"), ("de-AT", "Dein exam"), ("pt-BR", "Seu exam"), ("pt-PT", "Your exam"), ("ja", "Your exam"),
      (nil, "Your exam"), ("he", "\u{2068}exam\u{2069} שלך"),
      // It has a value that is not known.
      ("fr", "Your exam"),
    ] as [(String?, String)])
  func campaign(locale: String?, title: String) throws {
    let templates = try definition(
      """
      , "localised": {"de": {"title": "Dein {event}", "body": "Wie geht es?"},
        "pt_BR": {"title": "Seu {event}", "body": "Como vai?"}, "fr": {"title": "{theme}", "body": "x"},
        "he": {"title": "{event} שלך", "body": "x"}}
      """
    ).templates
    let text = templates[.eventBased]?.text(
      for: [1], on: 0, with: ["event": "exam"], in: locale.flatMap { LocaleTag($0) })
    #expect(text?.title == title)
  }

  @Test(
    "what is no text of a locale is refused by its place",
    arguments: [
      (#"{"deutsch": {"title": "a", "body": "b"}}"#, "deutsch"), (#"{"de": {"title": "a"}}"#, "de.body"),
      (#"{"de": {"title": "a", "body": "{"}}"#, "de"), (#"{"de": 1}"#, "de"),
      (#"{"DE": {"title": "a", "body": "b"}, "de": {"title": "a", "body": "b"}}"#, "de"),
      (#"{"de": {"title": "a", "body": "b", "localised": {}}}"#, "de.localised"), ("[]", ""),
    ])
  func refused(localised: String, place: String) {
    let defect = #expect(throws: CampaignDefinitionDefect.self) { try definition(", \"localised\": \(localised)") }
    let path = "templates.event_based[0].localised" + (place.isEmpty ? "" : ".\(place)")
    #expect(defect?.field == path)
  }

  @Test("texts of slots are in the locale that the material has")
  func slots() throws {
    let definition = try SlotCampaignDefinition(
      json: """
        {"slots": [{"slot": "0800"}], "texts": [{"if": {"name": {"known": true}}, "title": "Hello {{name}}", "body": "Go",
          "localised": {"de": {"title": "Hallo {{name}}", "body": ["Los", "Los"]}}}, {"title": "Hello", "body": "Go"}]}
        """)
    func text(_ material: String) throws -> String? {
      let values = try #require(SlotValues(json: material))
      return try definition.text(for: SlotSample.occasion(phase: nil), values: values).map { "\($0.title) \($0.body)" }
    }
    #expect(try text(#"{"name": "Ana", "locale": "de_CH"}"#) == "Hallo Ana Los")
    #expect(try text(#"{"name": "Ana", "locale": "fr"}"#) == "Hello Ana Go")
    #expect(try text(#"{"name": "Ana", "locale": 7}"#) == "Hello Ana Go")
    #expect(try text(#"{"locale": "de"}"#) == "Hello Go")
    #expect(throws: CampaignDefinitionDefect.self) {
      try SlotCampaignDefinition(
        json: #"{"slots": [{"slot": "0800"}], "texts": [{"title": "a", "body": "b", "localised": {"de": {"if": {}}}}]}"#
      )
    }
  }
}
