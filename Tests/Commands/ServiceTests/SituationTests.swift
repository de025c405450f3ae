import Foundation
import Simulators
import Testing

@Suite("A message inserted in PostgreSQL", .serialized)
struct SituationTests {
  @Test("is pushed to somebody who is away, to each device, once", arguments: DatabaseRoute.allCases)
  func away(_ route: DatabaseRoute) async throws {
    try await ServiceScene.play(route: route) { scene, _ in
      let person = Conversation.Person(devices: [Conversation.newToken(), Conversation.newToken()])
      let conversation = try await Conversation(scene, [person])
      let message = try await conversation.say("hello")
      let pushes = try await scene.pushes(of: message, atLeast: 2)
      #expect(Set(pushes.map(\.token)) == Set(person.devices))
      #expect(Set(pushes.map(\.identifier)).count == 2)
      #expect(pushes.allSatisfy { $0.status == 200 && $0.priority == 10 && $0.topic == ServiceScene.bundle })
      #expect(try await scene.ledger(of: message, rows: 1) == [conversation.people[0]: "sent "])
      let payload = try #require(pushes.first?.payload)
      #expect(payload.contains(#""title":"Message from Ann""#) && payload.contains(#""body":"hello""#))
      #expect(payload.contains(#""badge":1"#) && payload.contains("\"message_id\":\"\(message)\""))
      #expect(scene.simulator.service.lint.entries.isEmpty)
    }
  }

  @Test("is held for somebody who is looking, and pushed when the window ends", arguments: DatabaseRoute.allCases)
  func viewing(_ route: DatabaseRoute) async throws {
    try await ServiceScene.play(route: route, extra: ["SUPPRESSION_WINDOW_SECONDS": "2"]) { scene, _ in
      let conversation = try await Conversation(scene, [.viewing()])
      let message = try await conversation.say()
      #expect(try await scene.ledger(of: message, rows: 1) == [conversation.people[0]: "held user_viewing"])
      #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
      #expect(try await scene.settled(message) == [conversation.people[0]: "sent "])
      let late = try await scene.sql(
        """
        select extract(epoch from sent_at) * 1000 - (select extract(epoch from last_seen) * 1000
        from conversation_participants where user_id = '\(conversation.people[0])') from tacet.push_log
        where subject_id = '\(message)' and decision = 'sent'
        """)
      // Two seconds after last_seen, and at once then; a busy machine may be late, never early.
      let milliseconds = try #require(Double(late))
      #expect(milliseconds >= 2000 && milliseconds < 4000)
    }
  }

  @Test("is judged for each of a group on its own", arguments: DatabaseRoute.allCases)
  func group(_ route: DatabaseRoute) async throws {
    try await ServiceScene.play(route: route) { scene, service in
      let people: [Conversation.Person] = [.away(), .viewing(), .away(), .init()]
      let conversation = try await Conversation(scene, people)
      let message = try await conversation.say(readBy: [conversation.people[2]])
      let answer = try await service.webhook(#"{"message_id": "\#(message)"}"#)
      #expect(answer.status == 200)
      #expect(
        try await scene.ledger(of: message, rows: 4) == [
          conversation.people[0]: "sent ", conversation.people[1]: "held user_viewing",
          conversation.people[2]: "skipped already_read", conversation.people[3]: "skipped no_tokens",
        ])
      #expect((answer.json["recipients"] as? [Any])?.count == 4)
      #expect(answer.json["sent"] as? Bool == true && answer.json["skipped"] as? Bool == false)
      #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
    }
  }

  @Test("has its long text cut between grapheme clusters", arguments: DatabaseRoute.allCases)
  func emoji(_ route: DatabaseRoute) async throws {
    try await ServiceScene.play(route: route) { scene, _ in
      let conversation = try await Conversation(scene, [.away()])
      let family = "👨‍👩‍👧‍👦"
      let message = try await conversation.say(String(repeating: family, count: 200))
      let payload = try #require(try await scene.pushes(of: message, atLeast: 1).first?.payload)
      #expect(payload.utf8.count <= 4096)
      #expect(payload.contains("\"body\":\"" + String(repeating: family, count: 50) + "...\""))
    }
  }

  @Test(
    "is answered to a webhook, and to the same webhook again without a second push", arguments: DatabaseRoute.allCases)
  func webhooks(_ route: DatabaseRoute) async throws {
    try await ServiceScene.play(route: route) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      let message = try await conversation.say()
      let envelope = #"""
        {"type": "INSERT", "table": "messages", "schema": "public", "record": {"id": "\#(message)"}, "old_record": null}
        """#
      let first = try await service.webhook(envelope)
      let second = try await service.webhook(envelope)
      #expect(first.status == 200 && second.status == 200)
      #expect(first.text == second.text)
      #expect(first.json["sent"] as? Bool == true)
      let mine = try await service.webhook(
        #"{"message_id": "\#(message)", "recipient_user_id": "\#(conversation.people[0])"}"#)
      #expect((mine.json["recipients"] as? [Any])?.count == 1)
      #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
    }
  }

  @Test("is found by a webhook alone when the host has no trigger", arguments: DatabaseRoute.allCases)
  func webhookOnly(_ route: DatabaseRoute) async throws {
    try await ServiceScene.play(route: route) { scene, service in
      try await scene.sql("drop trigger tacet_message_inserted on messages")
      let conversation = try await Conversation(scene, [.away()])
      let message = try await conversation.say()
      #expect(try await service.webhook(#"{"message_id": "\#(message)"}"#).json["sent"] as? Bool == true)
      let old = try await conversation.say()
      try await scene.sql("update messages set created_at = now() - interval '2 hours' where id = '\(old)'")
      let answer = try await service.webhook(#"{"message_id": "\#(old)"}"#)
      #expect(answer.json["reason"] as? String == "expired")
    }
  }

  @Test("is answered with 202 when nobody wants to wait", arguments: DatabaseRoute.allCases)
  func asynchronous(_ route: DatabaseRoute) async throws {
    try await ServiceScene.play(route: route) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      for token in conversation.tokens[0] { scene.register(token, delayMilliseconds: 500) }
      let message = try await conversation.say()
      let body = #"{"message_id": "\#(message)"}"#
      let answer = try await service.webhook(body, fields: ["Prefer": "respond-async"])
      #expect(answer.status == 202 && answer.field("Preference-Applied") == "respond-async")
      #expect(try await service.webhook(body, fields: ["Prefer": "wait=20"]).json["sent"] as? Bool == true)
    }
  }
}
