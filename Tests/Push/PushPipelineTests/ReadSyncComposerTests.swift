import APNSCore
import FoundationEssentials
import PushRules
import PushStore
import Testing

@testable import PushPipeline

@Suite("The read sync composer")
struct ReadSyncComposerTests {
  private func request(
    _ sync: ReadSync, in conversation: UUID? = PushFixtures.conversation, badge: Int = 3
  ) throws -> PushRequest {
    let event = PushFixtures.readSync(sync, in: conversation, badge: badge)
    let composer = EventComposer(timeToLive: .seconds(3600))
    let push = try #require(try composer.push(for: event))
    let recipient = event.recipients[0]
    return try composer.request(
      push, for: PushDevice(token: "aa"), of: PushFixtures.route.app, to: recipient, in: event)
  }

  @Test("the app is woken in the background, with the badge and what to clear, the newest first")
  func content() throws {
    let ids = [UUID(), UUID()]
    let request = try request(ReadSync(messageIDs: ids, hasMore: false))
    #expect(request.head.pushType == .background)
    #expect(request.head.priority == .powerAware)
    #expect(request.head.expiration == .until(unixSeconds: 1_700_003_600))
    let names = ids.reversed().map { #""\#($0.lowercased)""# }.joined(separator: ",")
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == #"{"aps":{"content-available":1},"type":"read","message_ids":[\#(names)],"badge":3,"#
        + #""conversation_id":"\#(PushFixtures.conversation.lowercased)"}"#)
  }

  @Test("reads of several conversations name none, and nothing that all before was read")
  func several() throws {
    let id = UUID()
    let request = try request(ReadSync(messageIDs: [id], hasMore: true), in: nil)
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == #"{"aps":{"content-available":1},"type":"read","message_ids":["\#(id.lowercased)"],"badge":3}"#)
  }

  @Test("ninety ids and a hint to more fit into a push")
  func largest() throws {
    let ids = (0..<90).map { _ in UUID() }
    let request = try request(ReadSync(messageIDs: ids, hasMore: true), badge: .max)
    #expect(request.body.count <= PushType.background.bodyBytesMax)
    #expect(String(decoding: request.body, as: UTF8.self).hasSuffix(#""all_before":"\#(ids[89].lowercased)"}"#))
  }
}
