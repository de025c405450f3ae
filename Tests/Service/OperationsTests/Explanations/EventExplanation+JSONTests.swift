import Foundation
import Testing

@testable import Operations
@testable import PushStore

@Suite("An explanation as JSON")
struct EventExplanationJSONTests {
  @Test("names and numbers stay as programs know them")
  func document() throws {
    var told = Told()
    told.claim(decision: .skipped, reason: "muted") { $0.isMuted = true }
    let text = String(decoding: EventExplanation.json([told.explanation]), as: UTF8.self)
    #expect(
      text.hasPrefix(
        #"{"events":[{"committed_at":"2026-09-21T14:13:20.000Z","has_more_recipients":false,"kind":"message","#))
    #expect(
      text.contains(
        #""decision":"skipped","push_log_id":"33333333-3333-8333-8333-333333333333","reason":"muted","steps":["#))
    #expect(
      text.contains(
        #"{"name":"muted","value":"yes"}],"milliseconds":2.1,"text":"decided: no push (muted)","what":"decided"}"#))
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [[String: Any]]])
    #expect(document["events"]?.count == 1)
  }

  @Test("what is not known is left out")
  func absent() {
    var told = Told()
    told.event.enqueuedAt = nil
    told.event.source = nil
    let text = String(decoding: EventExplanation.json([told.explanation]), as: UTF8.self)
    #expect(!text.contains("null") && !text.contains("committed_at") && !text.contains("milliseconds"))
    #expect(text.contains(#""known":false"#))
  }
}
