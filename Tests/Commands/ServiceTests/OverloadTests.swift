import Foundation
import Simulators
import TestProcesses
import Testing

@Suite("Under overload")
struct OverloadTests {
  private static let pushes = 3_000

  /// More than a message takes behind one look for other kinds, and far less than all of them take.
  private static let patience = Duration.seconds(2)

  @Test("messages do not wait for thousands of stored pushes, all of which are sent", arguments: ["1", "2"])
  func messagesFirst(_ reactors: String) async throws {
    try await ServiceScene.play(extra: ["REACTORS": reactors]) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      // An answer takes its time, so that the backlog lasts.
      scene.register(conversation.tokens[0][0], delayMilliseconds: 20)
      try await scene.sql(Self.enqueue(to: conversation.people[0]))
      for number in 0..<5 {
        let said = ContinuousClock.now
        let message = try await conversation.say()
        _ = try await scene.pushes(of: message, atLeast: 1)
        #expect(ContinuousClock.now - said < Self.patience)
        if number == 0 { #expect(try await Self.sent(scene) < Self.pushes, "the backlog is gone: nothing was tested") }
        // What is asked is answered meanwhile.
        #expect(try await service.get("/healthz").status == 200)
      }
      try await Self.allSent(scene)
    }
  }

  private static func enqueue(to user: String) -> String {
    """
    with entered as (
      insert into tacet.pushes (user_id, kind, title, body, presentation)
      select '\(user)', 'push', 'Title', 'Body ' || n, '{}' from generate_series(1, \(pushes)) n
      returning id, user_id, kind, created_at
    )
    insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at, available_at)
    select e.id, e.kind, tacet.turn_of(e.user_id), e.created_at, e.created_at from entered e
    """
  }

  private static func allSent(_ scene: ServiceScene) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try await sent(scene) < pushes { try #require(ContinuousClock.now < deadline) }
  }

  private static func sent(_ scene: ServiceScene) async throws -> Int {
    Int(try await scene.sql("select count(*) from push_log where push_type = 'push' and decision = 'sent'")) ?? 0
  }
}
