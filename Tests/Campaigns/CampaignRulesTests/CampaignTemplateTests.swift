import CampaignRules
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
