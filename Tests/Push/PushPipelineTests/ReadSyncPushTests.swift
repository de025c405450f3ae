import FoundationEssentials
import PushRules
import PushStore
import TestIDs
import Testing

@testable import PushPipeline

@Suite("The push of reads")
struct ReadSyncPushTests {
  private func request(
    _ messageIDs: [HostID], hasMore: Bool, in conversation: HostID? = PushFixtures.conversation, badge: Int = 3
  ) throws -> PushRequest {
    let sync = ReadSyncPush(messageIDs: messageIDs, hasMore: hasMore, in: conversation)
    return try #require(try PushFixtures.request(PushFixtures.readSync(sync, badge: badge)))
  }

  @Test("the app is woken in the background, with the badge and what to clear, the newest first")
  func content() throws {
    let ids = [HostID.new(), HostID.new()]
    let request = try request(ids, hasMore: false)
    #expect(request.head.pushType == .background)
    #expect(request.head.priority == .powerAware)
    #expect(request.head.expiration == .until(unixSeconds: 1_700_003_600))
    let names = ids.reversed().map { #""\#($0.text)""# }.joined(separator: ",")
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == #"{"aps":{"content-available":1},"type":"read","message_ids":[\#(names)],"badge":3,"#
        + #""conversation_id":"\#(PushFixtures.conversation.text)"}"#)
  }

  @Test("reads of several conversations name none, and nothing that all before was read")
  func several() throws {
    let id = HostID.new()
    let request = try request([id], hasMore: true, in: nil)
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == #"{"aps":{"content-available":1},"type":"read","message_ids":["\#(id.text)"],"badge":3}"#)
  }

  @Test("ninety ids and a hint to more fit into a push")
  func largest() throws {
    let ids = (0..<90).map { _ in HostID.new() }
    let request = try request(ids, hasMore: true, badge: .max)
    #expect(request.body.count <= PushType.background.bodyBytesMax)
    #expect(String(decoding: request.body, as: UTF8.self).hasSuffix(#""all_before":"\#(ids[89].text)"}"#))
  }
}
