import Campaigns
import Testing

private let balanced = "Be warm, supportive and balanced."

@Suite("The style of a coach")
struct CoachingStyleTests {
  @Test(
    "each dimension has two ends and a middle that asks for nothing",
    arguments: [
      (0.0, -1), (0.35, -1), (0.350001, 0), (0.5, 0), (0.649999, 0), (0.65, 1), (1, 1),
    ])
  func bands(value: Double, side: Int) {
    let dimensions = [
      (CoachingStyle(directExploratory: value), "Be direct", "Be exploratory"),
      (CoachingStyle(briefDetailed: value), "Be brief", "Be detailed"),
      (CoachingStyle(actionReflective: value), "a small next step", "reflection"),
      (CoachingStyle(challengingSupportive: value), "Challenge gently", "especially supportive"),
    ]
    for (style, first, second) in dimensions {
      #expect(style.instructions.contains(first) == (side < 0))
      #expect(style.instructions.contains(second) == (side > 0))
      #expect((style.instructions == balanced) == (side == 0))
    }
  }

  @Test("all dimensions together stay one short line that begins with warmth", arguments: [0.0, 1])
  func together(value: Double) {
    let style = CoachingStyle(
      directExploratory: value, briefDetailed: value, actionReflective: value, challengingSupportive: value)
    #expect(style.instructions.hasPrefix("Be warm. "))
    #expect(style.instructions.count <= 400)
    #expect(!style.instructions.contains("\n"))
  }

  @Test("what is not on the scale is unknown", arguments: [-0.001, 1.001, .nan, .infinity, -.infinity])
  func offScale(value: Double) {
    #expect(CoachingStyle(directExploratory: value) == .unknown)
    #expect(CoachingStyle.unknown.instructions == balanced)
  }

  @Test(
    "a domain's style is its own, else that of everything, else that of a member of its name",
    arguments: [
      // domain_styles alone, then beside a general style: the domain's goes first, the general one is for the rest.
      (#"{"domain_styles": {"work": {"brief_vs_detailed": 0}}}"#, 0, nil),
      (#"{"domain_styles": {"work": {"brief_vs_detailed": 0}}, "brief_vs_detailed": 1}"#, 0, 1),
      (#"{"domain_styles": {"work": {}}, "brief_vs_detailed": 1}"#, 1, 1),
      (#"{"domain_styles": [], "brief_vs_detailed": 1}"#, 1, 1),
      // The four keys of everything go before members named like domains.
      (#"{"work": {"brief_vs_detailed": 0}, "brief_vs_detailed": 1}"#, 1, 1),
      (#"{"work": {"brief_vs_detailed": 0}}"#, 0, nil),
      (#"{"work": {"brief_vs_detailed": 0.5}, "domain_styles": {"work": {"brief_vs_detailed": 0}}}"#, 0, nil),
      (#"{"work": {"brief_vs_detailed": 0}, "domain_styles": {"home": {"brief_vs_detailed": 1}}}"#, 0, 1),
      (#"{"domain_styles": {"brief_vs_detailed": 1}}"#, nil, nil),
    ] as [(String, Double?, Double?)])
  func order(json: String, work: Double?, home: Double?) {
    let preferences = CoachingPreferences(json: json)
    #expect(preferences.style(in: "work").briefDetailed == work)
    #expect(preferences.style(in: "home").briefDetailed == home)
    #expect(preferences.style(in: nil) == preferences.general)
  }

  @Test("all four dimensions are read, of a domain and of everything")
  func dimensions() {
    let style = """
      "direct_vs_exploratory": 0, "brief_vs_detailed": 0.25, "action_vs_reflective": 1, "challenging_vs_supportive": 0.5,
      "other": [1]
      """
    let read = CoachingStyle(
      directExploratory: 0, briefDetailed: 0.25, actionReflective: 1, challengingSupportive: 0.5)
    for json in ["{\(style)}", "{\"domain_styles\": {\"work\": {\(style)}}}", "{\"work\": {\(style)}}"] {
      #expect(CoachingPreferences(json: json).style(in: "work") == read, "\(json)")
    }
  }

  @Test(
    "junk in a value leaves it unknown and the others as they are",
    arguments: ["\"0.1\"", "null", "true", "[0.1]", "{}", "-0.1", "1.1", "1e999", "\"NaN\""])
  func junkValues(value: String) {
    let json = #"{"work": {"brief_vs_detailed": \#(value), "action_vs_reflective": 0.5}}"#
    #expect(CoachingPreferences(json: json).domains == ["work": CoachingStyle(actionReflective: 0.5)])
  }

  @Test("junk in place of a style is left out", arguments: ["1", "null", "\"warm\"", "[]", "true", "{}"])
  func junkStyles(value: String) {
    #expect(CoachingPreferences(json: #"{"work": \#(value), "domain_styles": \#(value)}"#) == CoachingPreferences())
  }

  @Test(
    "a document that is no object says nothing",
    arguments: ["", "nil", "[]", "1", "{", "{\"work\": {}", "NaN", "\u{0}"])
  func junkDocuments(json: String) {
    #expect(CoachingPreferences(json: json) == CoachingPreferences())
  }

  @Test("however many domains there are, no more than 64 are read, and nesting does no harm")
  func hugeDocuments() {
    let domains = (0..<1_000).map { "\"d\($0)\": {\"brief_vs_detailed\": 1}" }.joined(separator: ",")
    #expect(CoachingPreferences(json: "{" + domains + "}").domains.count == 64)
    #expect(CoachingPreferences(json: String(repeating: "[", count: 100_000)) == CoachingPreferences())
  }
}
