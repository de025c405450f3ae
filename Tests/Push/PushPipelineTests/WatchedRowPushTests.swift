import FoundationEssentials
import PushRules
import Testing

@testable import PushPipeline
@testable import PushStore

@Suite("The push of a watched row")
struct WatchedRowPushTests {
  private func body(_ event: PushEvent) throws -> String {
    let request = try #require(try PushFixtures.request(event, to: PushFixtures.recipient(badge: 3)))
    return String(decoding: request.body, as: UTF8.self)
  }

  private static func event(title: String, body: String) -> PushEvent {
    let surface = SurfaceID(kind: "request", id: PushFixtures.makeID(8))
    return PushFixtures.event(
      WatchedRowPush(title: title, body: body, surface: surface), kind: "request_claimed",
      subject: PushFixtures.makeID(7))
  }

  @Test("the payload has the words, the surface as its thread, and names kind, subject and surface")
  func payload() throws {
    let event = Self.event(title: "Ann takes \"it\" on", body: "Tea\nand more")
    #expect(
      try body(event) == """
        {"aps":{"alert":{"title":"Ann takes \\"it\\" on","body":"Tea and more"},"badge":3,"sound":"default",\
        "thread-id":"abcd0000-0000-4000-8000-000000000008"},"type":"request_claimed",\
        "subject_id":"abcd0000-0000-4000-8000-000000000007","surface_kind":"request",\
        "surface_id":"abcd0000-0000-4000-8000-000000000008",\
        "push_log_id":"\(event.logID(of: PushFixtures.user).lowercased)"}
        """)
  }

  @Test(
    "words of any kind make a document of at most 4096 bytes",
    arguments: ["", "\u{1}", "\"", "👨‍👩‍👧‍👦", "e\u{301}", "نص", "\u{2028}"])
  func hostileTexts(text: String) throws {
    let long = String(repeating: text, count: 4096)
    #expect(try body(Self.event(title: long, body: long)).utf8.count <= 4096)
  }
}
