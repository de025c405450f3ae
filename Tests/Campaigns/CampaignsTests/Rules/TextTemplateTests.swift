import FoundationEssentials
import PushRules
import Testing

@testable import Campaigns

@Suite("Templates")
struct TextTemplateTests {
  @Test("names are filled with their values")
  func filled() throws {
    let template = try CampaignTemplate(title: "Your {event}", body: "{when}: {event}, {event}?")
    #expect(
      template.text(with: ["event": "exam", "when": "tonight", "other": "x"])
        == CampaignText(title: "Your exam", body: "tonight: exam, exam?"))
  }

  @Test("a template with a value missing or invisible is not used", arguments: [nil, "", "  ", "\u{200B}"])
  func missing(value: String?) throws {
    var values: [String: String] = [:]
    values["event"] = value
    #expect(try CampaignTemplate(title: "Hi", body: "{event}").text(with: values) == nil)
    #expect(try CampaignTemplate(title: "{event}", body: "Hi").text(with: values) == nil)
  }

  @Test("values are not read for names of their own, and stay on one line")
  func hostileValues() throws {
    let template = try CampaignTemplate(title: "Hi", body: "{a}{b}")
    #expect(template.text(with: ["a": "{b}\n<x>", "b": "y"])?.body == "{b} ‹x›y")
    #expect(template.text(with: ["a": String(repeating: "v", count: 500), "b": "!"])?.body.count == 81)
  }

  @Test(
    "what is no template is refused, with single and with double braces",
    arguments: [
      ("", TemplateDefect.empty), (" \n", .empty), ("\u{200B} ", .empty), ("{", .unmatchedBrace),
      ("}", .unmatchedBrace), ("{a", .unmatchedBrace), ("a}", .unmatchedBrace), ("{{a}}", .unmatchedBrace),
      ("{a{b}}", .unmatchedBrace), ("{a}}", .unmatchedBrace), ("{a} }", .unmatchedBrace),
      ("{\u{301}a", .unmatchedBrace), ("{a}\u{301}{", .unmatchedBrace), ("{}", .invalidName), ("{ a }", .invalidName),
      ("{A}", .invalidName), ("{é}", .invalidName), ("{a-b}", .invalidName),
    ])
  func refused(text: String, defect: TemplateDefect) {
    #expect(throws: defect) { try TextTemplate(text, braces: 1) }
    let doubled = text.replacing("{", with: "{{").replacing("}", with: "}}")
    #expect(throws: defect) { try TextTemplate(doubled, braces: 2) }
  }

  @Test("single braces are none of double ones", arguments: ["{a}", "{{a}", "{{a}}}", "{{{a}}}", "{{a}} }}"])
  func singleBraces(text: String) {
    #expect(throws: TemplateDefect.unmatchedBrace) { try TextTemplate(text, braces: 2) }
  }

  @Test(
    "texts are cut between clusters, the ellipsis counted", arguments: ["a", "👨‍👩‍👧‍👦", "e\u{301}", "🇩🇪", "👍🏽"])
  func limits(cluster: String) throws {
    func text(_ count: Int) -> String { String(repeating: cluster, count: count) }
    let within = try CampaignTemplate(title: text(50), body: text(200)).text(with: [:])
    #expect(within == CampaignText(title: text(50), body: text(200)))
    let beyond = try CampaignTemplate(title: text(51), body: text(201)).text(with: [:])
    #expect(beyond == CampaignText(title: text(49) + "…", body: text(199) + "…"))
    let longValue = try CampaignTemplate(title: "{v}", body: "b").text(with: ["v": text(60)])
    #expect(longValue.map { $0.title.count <= 50 } == true)
  }
}

private func pool(_ count: Int) throws -> TemplatePool {
  TemplatePool(try (0..<count).map { try CampaignTemplate(title: "Title", body: "Body \($0) {event}") })
}

private func user(_ number: UInt8) -> [UInt8] {
  [number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, number]
}

private let values = ["event": "exam"]

@Suite("The rotation of templates")
struct TemplatePoolTests {
  @Test("nobody gets the same text two days in a row, and everybody gets all of them in turn", arguments: 1...5)
  func rotation(count: Int) throws {
    let pool = try pool(count)
    for number in UInt8(0)..<10 {
      let texts = (-200..<200).compactMap { pool.text(for: user(number), on: $0, with: values) }
      #expect(texts.count == 400)
      #expect(zip(texts, texts.dropFirst()).allSatisfy { ($0 == $1) == (count == 1) })
      let rounds = stride(from: 0, through: texts.count - count, by: count).map { texts[$0..<($0 + count)] }
      #expect(rounds.allSatisfy { Set($0).count == count })
    }
  }

  @Test("the same question has the same answer, and users begin at different places")
  func determinism() throws {
    let pool = try pool(5)
    let bodies = (UInt8(0)..<50).map { pool.text(for: user($0), on: 20_000, with: values)?.body }
    #expect(bodies == (UInt8(0)..<50).map { pool.text(for: user($0), on: 20_000, with: values)?.body })
    #expect(Set(bodies).count == 5)
  }

  @Test("only templates that can be filled take turns")
  func filled() throws {
    let theme = try CampaignTemplate(title: "Title", body: "On {theme}")
    let mixed = TemplatePool(try pool(2).templates + [theme])
    for day in 0..<400 {
      #expect(mixed.text(for: user(1), on: day, with: ["theme": "rest"])?.body == "On rest")
      let text = mixed.text(for: user(1), on: day, with: values)
      #expect(text?.body.hasPrefix("Body") == true)
      #expect(text != mixed.text(for: user(1), on: day + 1, with: values))
    }
    #expect(mixed.text(for: user(1), on: 0, with: [:]) == nil)
    #expect(TemplatePool([]).text(for: user(1), on: 0, with: values) == nil)
  }

  @Test("a template that is there twice takes one turn")
  func duplicates() throws {
    let doubled = TemplatePool(try pool(2).templates + pool(3).templates)
    #expect(try doubled == pool(3))
  }

  @Test("no day is too far", arguments: [Int.min, -1, Int.max])
  func extremeDays(day: Int) throws {
    #expect(try pool(3).text(for: user(1), on: day, with: values) != nil)
  }
}

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
