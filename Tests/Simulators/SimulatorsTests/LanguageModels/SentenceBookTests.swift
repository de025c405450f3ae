import Testing

@testable import Simulators

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
