import HTTPTypes
import Testing

@testable import Simulators

@Suite("Scripts of simulated models", .timeLimit(.minutes(5)))
struct ScriptTests {
  private static func inquiry(_ material: String, instructions: String = "") -> ModelInquiry {
    ModelInquiry(
      provider: .anthropic, model: "m", instructions: instructions, material: material, tokensMax: nil)
  }

  @Test("steps follow one another, and the last one stays")
  func steps() {
    var player = ScriptPlayer(
      ModelScript(.init(.close), .init(.refusal, times: 2), .init(.reply("last"), times: 1)))
    let answers = (0..<5).map { _ in player.next(for: Self.inquiry("a")).answer }
    #expect(answers == [.close, .refusal, .refusal, .reply("last"), .reply("last")])
  }

  @Test("the first rule whose text stands in the prompt decides, and each counts for itself")
  func rules() {
    var player = ScriptPlayer(
      ModelScript(rules: [
        .init(match: "Ada", steps: [.init(.reply("1")), .init(.reply("2"))]),
        .init(match: "brief", steps: [.init(.close)]),
      ]))
    #expect(player.next(for: Self.inquiry("of Ada", instructions: "brief")).answer == .reply("1"))
    #expect(player.next(for: Self.inquiry("of Bob", instructions: "be brief")).answer == .close)
    #expect(player.next(for: Self.inquiry("of Ada")).answer == .reply("2"))
    #expect(player.next(for: Self.inquiry("of ada")).answer == .reply())
  }

  @Test("a script is read with all its kinds")
  func reading() throws {
    let script = try ModelScript(
      parsing: """
        {"models": ["m"], "rules": [{"match": "a", "steps": [
          {"text": "Hello", "delay_ms": 5, "times": 2}, {"kind": "reply"}, {"kind": "cut", "text": "b"},
          {"kind": "refusal"}, {"kind": "raw", "body": "{"}, {"kind": "close"}, {"kind": "hang"},
          {"kind": "failure", "status": 429, "type": "t", "headers": {"retry-after": "1"}}]}]}
        """)
    #expect(script.models == ["m"])
    #expect(script.rules.map(\.match) == ["a"])
    #expect(
      script.rules.first?.steps == [
        .init(.reply("Hello"), delayMilliseconds: 5, times: 2), .init(.reply()), .init(.cut("b")), .init(.refusal),
        .init(.raw("{")), .init(.close), .init(.hang),
        .init(.failure(status: 429, type: "t", fields: ["retry-after": "1"])),
      ])
    #expect(try ModelScript(parsing: "{}") == ModelScript())
  }

  @Test(
    "a script with a mistake is refused, and the mistake named",
    arguments: [
      ("", ""), ("[]", "wrong type"), (#"{"rule": []}"#, "rule is none of"), (#"{"rules": [{}]}"#, "steps is missing"),
      (#"{"rules": [{"steps": []}]}"#, "a rule has steps"),
      (#"{"rules": [{"steps": [{"kind": "sleep"}]}]}"#, "kind"),
      (#"{"rules": [{"steps": [{"kind": "failure"}]}]}"#, "status is missing"),
      (#"{"rules": [{"steps": [{"kind": "failure", "status": 200}]}]}"#, "status is a number from 300"),
      (#"{"rules": [{"steps": [{"kind": "failure", "status": 429, "headers": {"a b": "1"}}]}]}"#, "a b is no header"),
      (#"{"rules": [{"steps": [{"kind": "close", "text": "a"}]}]}"#, "text means nothing to close"),
      (#"{"rules": [{"steps": [{"status": 429}]}]}"#, "status means nothing to reply"),
      (#"{"rules": [{"steps": [{"delay_ms": -1}]}]}"#, "delay_ms is a number"),
      (#"{"rules": [{"steps": [{"times": 0}]}]}"#, "times is a number from 1"),
    ])
  func mistakes(_ text: String, _ detail: String) {
    let error = #expect(throws: ModelScriptError.self) { try ModelScript(parsing: text) }
    #expect(detail.isEmpty || error?.description.contains(detail) == true, "\(error?.description ?? "")")
  }
}

@Suite("Pushes of simulated models")
struct SentenceBookTests {
  private static func push(_ lines: String) -> PushText {
    SentenceBook(DecisionBlock(in: "Write.\n<decision>\n\(lines)\n</decision>\nwhen: never")).push
  }

  @Test(
    "a title says what the decision says",
    arguments: [
      ("type: event_based\nevent: presentation\nwhen: tomorrow", "Your presentation is tomorrow"),
      ("type: event_based\nevent: interview", "Your interview is coming up"),
      ("type: event_based", "Your big moment is coming up"),
      ("type:pattern_based\ntheme:  self-doubt ", "Something about self-doubt"),
      ("type: pattern_based\ntheme:", "Something I have noticed"),
      ("type: re_engagement\ntopic: the new team\ndomain: work", "Still thinking about the new team"),
      ("type: re_engagement\ndomain: work", "Still thinking about work"),
      ("type: re_engagement", "How have you been?"), ("", "How have you been?"),
      ("Type: event_based\r\nEvent: exam: part two\r\nwhen: on Monday", "Your exam: part two is on Monday"),
    ])
  func titles(_ lines: String, _ title: String) {
    #expect(Self.push(lines).title == title)
  }

  @Test("a push has room for it, however long the decision is", arguments: [10, 40, 50, 51, 500])
  func lengths(_ count: Int) {
    let long = String(repeating: "x", count: count)
    for lines in [
      "type: event_based\nevent: \(long)\nwhen: \(long)", "type: pattern_based\ntheme: \(long)", "topic: \(long)",
    ] {
      let push = Self.push(lines)
      #expect(!push.title.isEmpty && push.title.count <= 50)
      #expect(!push.body.isEmpty && push.body.count <= 200)
    }
  }

  @Test("the same decision gives the same words, and others give others")
  func variety() {
    let events = ["presentation", "interview", "exam", "flight", "meeting", "deadline", "appointment"]
    let bodies = events.map { Self.push("type: event_based\nevent: \($0)\nwhen: tomorrow").body }
    #expect(bodies == events.map { Self.push("type: event_based\nevent: \($0)\nwhen: tomorrow").body })
    #expect(Set(bodies).count > 1)
  }

  @Test("a prompt without a decision has none, and one without an end has all that follows")
  func edges() {
    #expect(DecisionBlock(in: "type: event_based")["type"] == nil)
    #expect(DecisionBlock(in: "<decision>type: a")["type"] == "a")
    #expect(DecisionBlock(in: "</decision><decision>\ntype: a\ntype: b\n</decision>")["type"] == "a")
  }
}
