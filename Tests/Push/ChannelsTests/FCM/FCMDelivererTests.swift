import Foundation
import PushRules
import Reactors
import TestReactors
import Testing

@testable import Channels

@Suite("Pushes as messages to Android")
struct FCMDelivererTests {
  /// The message that a deliverer makes of a server's push.
  private static func message(_ document: String) async throws -> FCMMessage {
    let subject = PushSubject(id: HostID(UUID()), kind: "offer")
    let push = try ServicePush(ClaimedContent(surfaceID: nil, document: document)).push(about: subject)
    let account = try ServiceAccount(json: ServiceAccountTests.file())
    return try await onReactor { reactor in
      let client = FCMClient(AccessTokenSource(account), on: reactor)
      defer { client.close(on: reactor) }
      let deliverer = FCMDeliverer(client)
      let outgoing = OutgoingPush(
        push, to: PushTarget(.fcm, address: "t:APA91b"), of: HostID(UUID()), about: subject, enqueuedAt: 0, unread: 3,
        expiresAt: 0)
      let request = try deliverer.request(for: outgoing, over: deliverer.routes[0])
      return try #require(request as? FCMDelivery).message
    }
  }

  @Test("data that is no text arrives as the JSON that it is")
  func values() async throws {
    let message = try await Self.message(
      #"""
      {"title":"a","body":"b","data":{"order":7,"price":2.5,"paid":true,"none":null,"text":"7","list":[1,"x"],"map":{"a":{}}}}
      """#)
    let own = message.data.members.filter { !["type", "subject_id", "push_log_id"].contains($0.key) }
    #expect(
      own == ["order": "7", "price": "2.5", "paid": "true", "text": "7", "list": #"[1,"x"]"#, "map": #"{"a":{}}"#])
  }

  @Test("the app's own data under names of ours is renamed")
  func names() async throws {
    let message = try await Self.message(
      #"""
      {"title":"a","body":"b","data":{"silent":"own","category":"own","from":"own"},"presentation":{"sound":"","category":"c"}}
      """#)
    let members = message.data.members
    #expect(members["silent"] == "true" && members["category"] == "c" && members["push_log_id"]?.count == 36)
    #expect(["app.silent", "app.category", "app.from"].allSatisfy { members[$0] == "own" })
  }
}
