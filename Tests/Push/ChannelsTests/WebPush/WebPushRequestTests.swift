import HTTPTypes
import Testing

@testable import Channels

@Suite("Requests to push services")
struct WebPushRequestTests {
  @Test(
    "the time to live is moved into the range that every service accepts",
    arguments: [(-5, 1), (0, 1), (1, 1), (2_419_200, 2_419_200), (2_419_201, 2_419_200), (.max, 2_419_200)])
  func timeToLive(_ given: Int64, _ sent: Int64) throws {
    let push = try WebPushRequest(content: nil, urgency: .high, timeToLiveSeconds: given)
    #expect(push.fields(authorization: "x")[.timeToLive] == "\(sent)")
  }

  @Test("a topic is 32 hexadecimal digits, the same for the same identifier")
  func topic() {
    let topic = WebPushTopic(of: "chat/7 ä")
    #expect(topic.text.wholeMatch(of: /[0-9a-f]{32}/) != nil)
    #expect(topic == WebPushTopic(of: "chat/7 ä"))
    #expect(topic != WebPushTopic(of: "chat/8 ä"))
  }

  @Test("a push without content names no encoding")
  func empty() throws {
    for content in [nil, []] as [[UInt8]?] {
      let push = try WebPushRequest(content: content, urgency: .veryLow, timeToLiveSeconds: 60)
      let fields = push.fields(authorization: "vapid t=a, k=b")
      #expect(fields.map(\.name.canonicalName).sorted() == ["authorization", "ttl", "urgency"])
      #expect(fields[.urgency] == "very-low")
    }
  }

  @Test("content is encrypted content, and has a limit")
  func content() throws {
    let largest = [UInt8](repeating: 0, count: 3993)
    let push = try WebPushRequest(
      content: largest, urgency: .normal, timeToLiveSeconds: 60, topic: WebPushTopic(of: "a"))
    let fields = push.fields(authorization: "vapid t=a, k=b")
    #expect(fields[.contentEncoding] == "aes128gcm")
    #expect(fields[.topic]?.count == 32)
    #expect { try WebPushRequest(content: largest + [0], urgency: .normal, timeToLiveSeconds: 60) } throws: {
      ($0 as? WebPushError)?.code == .payloadTooLarge
    }
  }
}
