import Foundation
import Testing

@testable import PushRules

@Suite("The kinds of push")
struct KnownKindsTests {
  @Test("names and kinds of events are each used once")
  func distinct() {
    #expect(Set(KnownKinds.all.map { $0.name }).count == KnownKinds.all.count)
    #expect(KnownKinds.eventKinds == ["message", "read_sync", "live_activity"])
  }

  @Test(
    "content that its kind cannot read, and content of no kind, is no push",
    arguments: [
      ("read_sync", "{}"), ("read_sync", #"{"message_ids":[true],"has_more":false}"#), ("watched_row", "[]"),
      ("service_push", "{"), ("campaign_push", #"{"title":1,"body":""}"#), ("later", "{}"), ("message", "{}"),
    ])
  func unreadable(name: String, document: String) throws {
    let content = KnownKinds.content(ClaimedContent(surfaceID: nil, document: document), of: name)
    #expect(content is UnreadablePush)
    #expect(throws: (any Error).self) { try content.push(about: PushSubject(id: HostID(UUID()), kind: name)) }
  }

  @Test("explanations call a message a message, and everything else an event")
  func words() {
    #expect(KnownKinds.words(ofEventKind: "message") == KindWords(event: "message", surface: "the conversation"))
    #expect(KnownKinds.words(ofEventKind: "request_claimed") == KindWords())
  }
}
