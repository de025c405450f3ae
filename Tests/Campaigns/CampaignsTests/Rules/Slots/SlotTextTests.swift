import Testing

@testable import Campaigns

private let family = "👨‍👩‍👧‍👦"

private func text(_ count: Int, _ cluster: String) -> String { String(repeating: cluster, count: count) }

@Suite("The texts of slots")
struct SlotTextTests {
  @Test("tokens of the fire time are filled")
  func fireTime() throws {
    let read = try SlotSample.definition(title: "{{date}} {{time}}", body: "{{slot}} {{phase}} {{fire_date}}")
    let text = read.text(for: try SlotSample.occasion(), values: SlotValues())
    #expect(text?.title == "2026-03-11 08:00")
    #expect(text?.body == "0800 morning 2026-03-11")
    #expect(text?.missingTokens == 0)
    let late = read.text(for: try SlotSample.occasion("0230", localTime: "03:30"), values: SlotValues())
    #expect(late?.title == "2026-03-11 03:30")
    #expect(late?.body == "0230 morning 2026-03-11")
  }

  @Test("no source can replace the fire time")
  func precedence() throws {
    let values = try SlotSample.values(
      #"{"date":"x","time":"x","slot":"x","phase":"x","fire_date":"x","a":"material","b":"material"}"#)
    let pools = #","pools":{"p":[{"b":"pool"}]},"pool":"p""#
    let read = try SlotSample.definition(
      title: "{{date}} {{time}} {{slot}} {{phase}}", body: "{{a}} {{b}}", more: pools)
    let text = read.text(for: try SlotSample.occasion(phase: nil), values: values)
    #expect(text?.title == "2026-03-11 08:00 0800 [Content]")
    #expect(text?.body == "material pool")
  }

  @Test(
    "a token without a value shows a placeholder and is counted",
    arguments: [
      ("{}", "[Content], [Content]", 3), (#"{"a":null,"b":" "}"#, "[Content], [Content]", 3),
      (#"{"a":["x"],"b":"y"}"#, "[Content], y", 2), (#"{"a":"x","b":"y"}"#, "x, y", 0),
      (#"{"a":"x"}"#, "x, [Content]", 1),
    ])
  func missing(json: String, body: String, count: Int) throws {
    let read = try SlotSample.definition(title: "Hi {{a}}", body: "{{a}}, {{b}}")
    let text = try #require(read.text(for: SlotSample.occasion(), values: SlotSample.values(json)))
    #expect(text.body == body)
    #expect(text.missingTokens == count)
  }

  @Test("a value is never read for tokens, and is not escaped")
  func hostileValues() throws {
    let read = try SlotSample.definition(title: "{{a}}{{b}}", body: "{{b}}")
    let values = try SlotSample.values(#"{"a":"{{b}} {{","b":"}} <i>&amp;\n\u0000{{a}}"}"#)
    let text = read.text(for: try SlotSample.occasion(), values: values)
    #expect(text?.title == "{{b}} {{}} <i>&amp; {{a}}")
    #expect(text?.body == "}} <i>&amp; {{a}}")
    #expect(text?.missingTokens == 0)
  }

  @Test("texts are cut between clusters, the ellipsis counted", arguments: ["a", family, "e\u{301}", "🇩🇪", "👍🏽"])
  func limits(cluster: String) throws {
    let read = try SlotSample.definition(title: "{{t}}", body: "{{b}}")
    func rendered(_ title: Int, _ body: Int) throws -> SlotText? {
      let values = try SlotSample.values(#"{"t":"\#(text(title, cluster))","b":"\#(text(body, cluster))"}"#)
      return read.text(for: try SlotSample.occasion(), values: values)
    }
    let within = try rendered(50, 200)
    #expect(within?.title == text(50, cluster) && within?.body == text(200, cluster))
    let beyond = try rendered(51, 201)
    #expect(beyond?.title == text(49, cluster) + "…" && beyond?.body == text(199, cluster) + "…")
  }

  @Test("a text is cut after its values are inserted")
  func cutWhole() throws {
    let read = try SlotSample.definition(title: "{{a}} and more", body: "b")
    let values = try SlotSample.values(#"{"a":"\#(text(45, "v"))"}"#)
    #expect(read.text(for: try SlotSample.occasion(), values: values)?.title == text(45, "v") + " and…")
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
    let read = try SlotCampaignDefinition(json: SlotSample.json(texts: texts))
    #expect(read.text(for: try SlotSample.occasion(), values: try SlotSample.values(json))?.title == title)
  }

  @Test("the data holds the payload and the row's members, sorted")
  func data() throws {
    let more = #","pools":{"p":[{"a":"x"}]},"pool":"p","payload":{"url":"app://x/\"y\"","action":"é"}"#
    let occasion = try SlotSample.occasion()
    let used = try SlotSample.definition(title: "{{a}}", more: more).text(for: occasion, values: SlotValues())
    #expect(
      used?.data
        == #"{"action":"é","fire_date":"2026-03-11","micro_action":0,"phase":"morning","slot":"0800","url":"app://x/\"y\""}"#
    )
    #expect(used?.microAction == 0)
    let plain = try SlotSample.definition(title: "t", more: more)
    let text = plain.text(for: try SlotSample.occasion(phase: nil), values: SlotValues())
    #expect(text?.data == #"{"action":"é","fire_date":"2026-03-11","slot":"0800","url":"app://x/\"y\""}"#)
    #expect(text?.microAction == nil)
  }

  @Test("the data is JSON for any payload and phase")
  func escapes() throws {
    let hostile = (0...0x7F).map { String(Unicode.Scalar($0)) }.joined() + "é👨‍👩‍👧‍👦\u{2028}\u{FFFF}\u{301}"
    let definition = try SlotCampaignDefinition(json: SlotSample.json())
    let read = SlotCampaignDefinition(
      slots: definition.slots, way: .auto, category: .daily, contentURL: nil, pools: nil, composer: nil,
      texts: definition.texts, payload: ["a": .literal(hostile), hostile: .literal("b")], hasCollapseID: false)
    let text = try #require(read.text(for: SlotSample.occasion(phase: hostile), values: SlotValues()))
    #expect(
      JSONValue(text.data)
        == .object([
          "a": .string(hostile), hostile: .string("b"), "phase": .string(hostile), "slot": .string("0800"),
          "fire_date": .string("2026-03-11"),
        ]))
  }

  @Test("an unknown pool gives no values", arguments: [#"{"group":"x"}"#, "{}", #"{"group":"{{phase}}"}"#])
  func unknownPool(json: String) throws {
    let more = #","pools":{"a":[{"text":"x"}],"[Content]":[{"text":"y"}]},"pool":"{{group}}""#
    let read = try SlotSample.definition(title: "{{text}}", more: more)
    let text = read.text(for: try SlotSample.occasion(), values: try SlotSample.values(json))
    #expect(text?.title == "[Content]")
    #expect(text?.missingTokens == 1)
    #expect(text?.microAction == nil)
  }

  @Test("a row is named by its campaign, slot and day")
  func identifiers() throws {
    let occasion = try SlotSample.occasion("2000", phase: "evening", on: "2026-12-31")
    #expect(occasion.identifier == "ritual.2000.2026-12-31")
    #expect(occasion.threadID == "ritual.2026-12-31")
    #expect(occasion.localTime == "20:00")
  }
}
