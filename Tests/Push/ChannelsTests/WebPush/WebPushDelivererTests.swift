import Cryptography
import Foundation
import PushRules
import Reactors
import TestReactors
import Testing

@testable import Channels

@Suite("Pushes in the form of browsers")
struct WebPushDelivererTests {
  /// The urgency of an event's push.
  private static func urgency(of content: any PushContent, _ kind: String) async throws -> WebPushRequest.Urgency {
    let subject = PushSubject(id: HostID(UUID()), kind: kind)
    let push = try content.push(about: subject)
    return try await onReactor { reactor in
      let signer = VAPIDSigner(key: P256PrivateKey(), subject: try VAPIDSubject("mailto:ops@example.com"))
      let client = WebPushClient(signer: signer, on: reactor)
      defer { client.close(on: reactor) }
      let deliverer = WebPushDeliverer(client, links: try WebPushLinks(template: "https://app.example/"))
      let key = Base64URL.encode(P256PrivateKey().publicKey.x963)
      let target = PushTarget(
        .webPush, address: "https://fcm.googleapis.com/wp/a",
        keys: #"{"p256dh":"\#(key)","auth":"BTBZMqHH6r4Tts7J_aSIgg"}"#)
      let outgoing = OutgoingPush(
        push, to: target, of: HostID(UUID()), about: subject, enqueuedAt: 0, unread: nil, expiresAt: 0)
      let request = try deliverer.request(for: outgoing, over: deliverer.route(to: target))
      return try #require(request as? WebPushDelivery).request.urgency
    }
  }

  @Test(
    "a sleeping device is woken for what is time-sensitive, and not for a push that says nothing of it",
    arguments: [
      (nil, WebPushRequest.Urgency.normal), ("passive", .normal), ("active", .normal), ("time-sensitive", .high),
      ("critical", .high),
    ])
  func levels(_ level: String?, _ urgency: WebPushRequest.Urgency) async throws {
    let presentation = level.map { #"{"interruption_level":"\#($0)"}"# } ?? "{}"
    let document = #"{"title":"a","body":"b","presentation":\#(presentation)}"#
    let push = try ServicePush(ClaimedContent(surfaceID: nil, document: document))
    #expect(try await Self.urgency(of: push, "offer") == urgency)
  }

  @Test("a sleeping device is woken for a message")
  func message() async throws {
    let message = MessagePush(conversationID: HostID(UUID()), senderName: "Ann", text: "Hi")
    #expect(try await Self.urgency(of: message, MessagePush.name) == .high)
  }
}
