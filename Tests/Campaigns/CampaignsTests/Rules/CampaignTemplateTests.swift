import Campaigns
import FoundationEssentials
import Testing

@Suite("Templates")
struct CampaignTemplateTests {
  @Test("places are filled with their values")
  func filled() throws {
    let template = try CampaignTemplate(title: "Your {event}", body: "{when}: {event}, {event}?")
    #expect(template.placeholders == ["event", "when"])
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

  @Test("values are not read for places of their own, and stay on one line")
  func hostileValues() throws {
    let template = try CampaignTemplate(title: "Hi", body: "{a}{b}")
    #expect(template.text(with: ["a": "{b}\n<x>", "b": "y"])?.body == "{b} ‹x›y")
    #expect(template.text(with: ["a": String(repeating: "v", count: 500), "b": "!"])?.body.count == 81)
  }

  @Test(
    "what is no template is refused",
    arguments: [
      ("", TemplateDefect.empty), (" \n", .empty), ("{", .unmatchedBrace), ("}", .unmatchedBrace),
      ("{a", .unmatchedBrace),
      ("a}", .unmatchedBrace), ("{{a}}", .unmatchedBrace), ("{a{b}}", .unmatchedBrace), ("{a}}", .unmatchedBrace),
      ("{}", .invalidName), ("{ a }", .invalidName), ("{A}", .invalidName), ("{é}", .invalidName),
      ("{a-b}", .invalidName),
    ])
  func refused(text: String, defect: TemplateDefect) {
    #expect(throws: defect) { try CampaignTemplate(title: text, body: "b") }
    #expect(throws: defect) { try CampaignTemplate(title: "t", body: text) }
  }

  @Test("texts are cut between clusters, the ellipsis counted", arguments: ["a", "👨‍👩‍👧‍👦", "e\u{301}", "🇩🇪"])
  func limits(cluster: String) throws {
    func text(_ count: Int) -> String { String(repeating: cluster, count: count) }
    let within = try CampaignTemplate(title: text(50), body: text(200)).text(with: [:])
    #expect(within == CampaignText(title: text(50), body: text(200)))
    let beyond = try CampaignTemplate(title: text(51), body: text(201)).text(with: [:])
    #expect(beyond == CampaignText(title: text(49) + "…", body: text(199) + "…"))
  }

  @Test("a value may make a text too long")
  func longValue() throws {
    let text = try CampaignTemplate(title: "{v}", body: "b").text(with: ["v": String(repeating: "v", count: 60)])
    #expect(text?.title == String(repeating: "v", count: 49) + "…")
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
