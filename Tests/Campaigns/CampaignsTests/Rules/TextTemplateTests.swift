import FoundationEssentials
import PushRules
import Testing

@testable import Campaigns
@testable import PushStore

private func rule(_ json: String) throws -> TextRule {
  try CampaignDefinition(json: #"{"layers":["event"],"texts":[\#(json)]}"#).texts[0]
}

private func text(
  _ json: String, with values: [String: String] = [:], for user: [UInt8] = [1], on day: Int = 0
) throws -> CampaignText {
  try rule(json).filled(with: values, in: nil, for: user, on: day).text
}

@Suite("Templates of definitions")
struct TextTemplateTests {
  @Test(
    "names are filled with their values, with one brace or two on each side", arguments: [("{", "}"), ("{{", "}}")])
  func filled(open: String, close: String) throws {
    func name(_ name: String) -> String { open + name + close }
    let template = try Self.read("\(name("when")): \(name("event")), \(name("event"))?")
    let filled = template.filled(with: ["event": "exam", "when": "tonight", "other": "x"])
    #expect(filled.text == "tonight: exam, exam?")
    #expect(template.names == ["event", "when"])
  }

  @Test(
    "what is no template is refused",
    arguments: [
      "", " \n", "\u{200B} ", "{", "}", "{a", "a}", "{{a}", "{{{a}}}", "{{a}} }}", "{a{b}}", "{a}}", "{a} }",
      "{\u{301}a",
      "{a}\u{301}{", "{}", "{{}}", "{ a }", "{A}", "{{A}}", "{é}", "{a-b}",
    ])
  func refused(text: String) throws {
    let defect = #expect(throws: DefinitionDefect.self) { try Self.read(text) }
    #expect(defect?.code == .invalidTemplate)
  }

  private static func read(_ text: String) throws -> TextTemplate {
    try DefinitionField(value: .string(text), path: "title").template(scalarsMax: 100)
  }

  @Test(
    "texts are cut between clusters, the ellipsis counted", arguments: ["a", "👨‍👩‍👧‍👦", "e\u{301}", "🇩🇪", "👍🏽"])
  func limits(cluster: String) throws {
    func cut(_ title: Int, _ body: Int) throws -> CampaignText {
      let values = ["t": String(repeating: cluster, count: title), "b": String(repeating: cluster, count: body)]
      return try text(#"{"title":"{t}","body":"{b}"}"#, with: values)
    }
    let within = try cut(50, 200)
    #expect(within.title.count == 50 && within.body.count == 200)
    let beyond = try cut(51, 201)
    #expect(beyond.title == String(repeating: cluster, count: 49) + "…")
    #expect(beyond.body == String(repeating: cluster, count: 199) + "…")
  }
}

private func pool(_ bodies: [String]) -> String {
  #"{"title":"Title","body":[\#(bodies.map { "\"\($0)\"" }.joined(separator: ","))]}"#
}

private func pool(_ count: Int) -> String { pool((0..<count).map { "Body \($0) {event}" }) }

private func user(_ number: UInt8) -> [UInt8] {
  [number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, number]
}

private let values = ["event": "exam"]

@Suite("The rotation of texts")
struct TextRotationTests {
  @Test("nobody gets the same text two days in a row, and everybody gets all of them in turn", arguments: 1...5)
  func rotation(count: Int) throws {
    let rule = try rule(pool(count))
    for number in UInt8(0)..<10 {
      let texts = (-200..<200).map { rule.filled(with: values, in: nil, for: user(number), on: $0).text }
      #expect(zip(texts, texts.dropFirst()).allSatisfy { ($0 == $1) == (count == 1) })
      let rounds = stride(from: 0, through: texts.count - count, by: count).map { texts[$0..<($0 + count)] }
      #expect(rounds.allSatisfy { Set($0).count == count })
    }
  }

  @Test("the same question has the same answer, and users begin at different places")
  func determinism() throws {
    let bodies = try (UInt8(0)..<50).map { try text(pool(5), with: values, for: user($0), on: 20_000).body }
    #expect(try bodies == (UInt8(0)..<50).map { try text(pool(5), with: values, for: user($0), on: 20_000).body })
    #expect(Set(bodies).count == 5)
  }

  @Test("only texts that can be filled take turns")
  func filled() throws {
    let mixed = try rule(pool(["Body 0 {event}", "Body 1 {event}", "On {theme}"]))
    func body(_ values: [String: String], on day: Int) -> String {
      mixed.filled(with: values, in: nil, for: user(1), on: day).text.body
    }
    for day in 0..<400 {
      #expect(body(["theme": "rest"], on: day) == "On rest")
      #expect(body(values, on: day).hasPrefix("Body"))
      #expect(body(values, on: day) != body(values, on: day + 1))
    }
    #expect(mixed.filled(with: [:], in: nil, for: user(1), on: 0).missing == 1)
  }

  @Test("titles take turns with their bodies")
  func pairs() throws {
    let pairs = try rule(#"{"title":["A","B","C {event}"],"body":["a","b","c"]}"#)
    let texts = (0..<6).map { pairs.filled(with: [:], in: nil, for: user(1), on: $0).text }
    #expect(Set(texts) == [CampaignText(title: "A", body: "a"), CampaignText(title: "B", body: "b")])
  }

  @Test("a text that is there twice takes one turn")
  func duplicates() throws {
    #expect(try rule(pool(["a", "b", "a"])) == rule(pool(["a", "b"])))
  }

  @Test("no day is too far", arguments: [Int.min, -1, Int.max])
  func extremeDays(day: Int) throws {
    #expect(try text(pool(3), with: values, for: user(1), on: day).title == "Title")
  }
}

@Suite("Texts in other locales and numbers")
struct LocalisedTextRuleTests {
  @Test(
    "the user's locale decides, with what it falls back to",
    arguments: [
      ("de", "Dein exam"), ("de-AT", "Dein exam"), ("pt-BR", "Seu exam"), ("pt-PT", "Your exam"), ("ja", "Your exam"),
      (nil, "Your exam"), ("he", "\u{2068}exam\u{2069} שלך"),
      // It has a value that is not known.
      ("fr", "Your exam"),
    ] as [(String?, String)])
  func locales(locale: String?, title: String) throws {
    let rule = try rule(
      """
      {"title": "Your {event}", "body": "How is it?",
       "localised": {"de": {"title": "Dein {event}", "body": "Wie geht es?"},
                     "pt_BR": {"title": "Seu {event}", "body": "Como vai?"}, "fr": {"title": "{theme}", "body": "x"},
                     "he": {"title": "{event} שלך", "body": "x"}}}
      """)
    let filled = rule.filled(with: ["event": "exam"], in: locale.flatMap { LocaleTag($0) }, for: [1], on: 0)
    #expect(filled.text.title == title)
    #expect(filled.missing == 0)
  }

  @Test(
    "a number has the form of its language",
    arguments: [
      ("en", "1", "One day"), ("en", "2", "2 days"), ("en", "x", "x days"), ("pl", "1", "Dzień"), ("pl", "3", "3 dni"),
      ("pl", "5", "5 dzień"), ("fr", "1", "One day"),
    ])
  func plurals(locale: String, number: String, title: String) throws {
    let rule = try rule(
      """
      {"title": "{n} days", "body": "b", "counted": "n", "plural": {"one": {"title": "One day", "body": "b"}},
       "localised": {"pl": {"title": "{n} dzień", "body": "b", "counted": "n",
         "plural": {"one": {"title": "Dzień", "body": "b"}, "few": {"title": "{n} dni", "body": "b"}}}}}
      """)
    #expect(rule.filled(with: ["n": number], in: LocaleTag(locale), for: [1], on: 0).text.title == title)
  }

  @Test(
    "what is no text of a locale is refused by its place",
    arguments: [
      (#"{"deutsch": {"title": "a", "body": "b"}}"#, "deutsch"), (#"{"de": {"title": "a"}}"#, "de.body"),
      (#"{"de": {"title": "a", "body": "{"}}"#, "de.body"), (#"{"de": 1}"#, "de"),
      (#"{"DE": {"title": "a", "body": "b"}, "de": {"title": "a", "body": "b"}}"#, "de"),
      (#"{"de": {"title": "a", "body": "b", "localised": {}}}"#, "de.localised"),
      (#"{"de": {"title": "a", "body": "b", "if": {}}}"#, "de.if"), ("[]", ""),
    ])
  func refused(localised: String, place: String) {
    let defect = #expect(throws: DefinitionDefect.self) {
      try rule(#"{"title": "a", "body": "b", "localised": \#(localised)}"#)
    }
    #expect(defect?.field == "texts[0].localised" + (place.isEmpty ? "" : ".\(place)"))
  }

  @Test("texts of slots are in the locale that the material has")
  func slots() throws {
    let definition = try CampaignDefinition(
      json: """
        {"slots": [{"slot": "0800"}], "texts": [{"if": {"name": {"known": true}}, "title": "Hello {name}", "body": "Go",
          "localised": {"de": {"title": "Hallo {name}", "body": ["Los", "Los"]}}}, {"title": "Hello", "body": "Go"}]}
        """)
    func text(_ material: String) throws -> String? {
      let values = try #require(CampaignValues(json: material))
      let filled = try definition.words(for: SlotSample.occasion(phase: nil), values: values)
      return filled.map { "\($0.words.title) \($0.words.body)" }
    }
    #expect(try text(#"{"name": "Ana", "locale": "de_CH"}"#) == "Hallo Ana Los")
    #expect(try text(#"{"name": "Ana", "locale": "fr"}"#) == "Hello Ana Go")
    #expect(try text(#"{"name": "Ana", "locale": 7}"#) == "Hello Ana Go")
    #expect(try text(#"{"locale": "de"}"#) == "Hello Go")
  }
}
