import Foundation
import Simulators
import TestProcesses
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
      #expect(try await scene.settled(message) == [conversation.people[0]: "sent "])
      let payload = try #require(pushes.first?.payload)
      #expect(payload.contains(#""title":"Message from Ann""#) && payload.contains(#""body":"hello""#))
      #expect(payload.contains(#""badge":1"#) && payload.contains("\"message_id\":\"\(message)\""))
      #expect(scene.simulator.service.lint.entries.isEmpty)
    }
  }

  @Test("is held for somebody who is looking, and pushed when the window ends", arguments: DatabaseRoute.allCases)
  func viewing(_ route: DatabaseRoute) async throws {
    try await ServiceScene.play(route: route, extra: ["SUPPRESSION_WINDOW_SECONDS": "4"]) { scene, _ in
      let usual = try await scene.timeToPush(try await Conversation(scene, [.away()]).say())
      let conversation = try await Conversation(scene, [.viewing()])
      let message = try await conversation.say()
      #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
      #expect(try await scene.settled(message) == [conversation.people[0]: "sent "])
      let first = "select l.history -> 0 ->> 'decision', l.history -> 0 ->> 'reason' from tacet.push_log l"
      #expect(try await scene.sql("\(first) where subject_id = '\(message)'") == "held|user_viewing")
      let late = try await scene.sql(
        """
        select extract(epoch from sent_at) * 1000 - (select extract(epoch from last_seen) * 1000
        from conversation_participants where user_id = '\(conversation.people[0])') from tacet.push_log
        where subject_id = '\(message)' and decision = 'sent'
        """)
      // When the window after last_seen ends, and at once then; a busy machine may be late, never early.
      let wait = Duration.milliseconds(try #require(Double(late)))
      #expect(wait >= .seconds(4) && wait < .seconds(4) + max(.seconds(4), usual * 4), "usually \(usual)")
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
        try await scene.ledger(of: message, held: 1, others: 3) == [
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
      for token in conversation.tokens[0] { scene.register(token, delayMilliseconds: 3_000) }
      let message = try await conversation.say()
      let body = #"{"message_id": "\#(message)"}"#
      let answer = try await service.webhook(body, fields: ["Prefer": "respond-async"])
      #expect(answer.status == 202 && answer.field("Preference-Applied") == "respond-async")
      #expect(try await service.webhook(body, fields: ["Prefer": "wait=20"]).json["sent"] as? Bool == true)
    }
  }
}

/// A host that writes its own tables by plain SQL, with a window that no test waits for.
@Suite("A held push", .serialized)
struct HoldTests {
  @Test(
    "ends at once when the host writes what is learnt",
    arguments: [
      ("update conversation_participants set tacet_left_at = now() where user_id = '$user'", "sent "),
      ("update conversation_participants set last_seen = now() where user_id = '$user'", "skipped user_viewing"),
      ("update messages set read_by = array_append(read_by, '$user')", "skipped already_read"),
      ("delete from messages", "skipped deleted"),
      ("delete from conversation_participants where user_id = '$user'", "skipped not_participant"),
    ])
  func learnt(_ change: String, _ outcome: String) async throws {
    try await ServiceScene.play(extra: ["SUPPRESSION_WINDOW_SECONDS": "600"]) { scene, _ in
      let conversation = try await Conversation(scene, [.viewing()])
      let user = conversation.people[0]
      let message = try await conversation.say()
      #expect(try await scene.ledger(of: message, held: 1) == [user: "held user_viewing"])
      try await scene.sql(change.replacing("$user", with: user))
      #expect(try await scene.settled(message) == [user: outcome])
      #expect(
        try await scene.pushes(of: message, atLeast: outcome == "sent " ? 1 : 0).count == (outcome == "sent " ? 1 : 0))
      #expect(try await scene.sql("select count(*) from tacet.deliveries") == "0")
    }
  }

  @Test("survives the death of the service, and ends at once after it")
  func killed() async throws {
    let scene = try await ServiceScene(extra: ["SUPPRESSION_WINDOW_SECONDS": "600"])
    let conversation = try await Conversation(scene, [.viewing(), .viewing()])
    let first = try await scene.startService()
    let message = try await conversation.say()
    _ = try await scene.ledger(of: message, held: 2)
    try await first.process.signal(SIGKILL)
    _ = try await first.process.exitCode()
    // One leaves while nobody is there to hear it, the other afterwards.
    try await scene.sql(
      "update conversation_participants set tacet_left_at = now() where user_id = '\(conversation.people[0])'")
    let second = try await scene.startService()
    _ = try await scene.pushes(of: message, atLeast: 1)
    try await scene.sql(
      "update conversation_participants set tacet_left_at = now() where user_id = '\(conversation.people[1])'")
    #expect(Set(try await scene.settled(message).values) == ["sent "])
    #expect(try await scene.pushes(of: message, atLeast: 2).count == 2)
    try await second.stop()
    await scene.simulator.stop()
  }
}

/// The simulator judges each push as strictly as APNs.
@Suite("Reads told to other devices", .serialized)
struct ReadSyncTests {
  @Test("the other device gets one background push, which APNs takes, and no quiet lasts for it")
  func told() async throws {
    try await ServiceScene.play { scene, _ in
      let person = Conversation.Person(
        devices: Conversation.Person.away().devices + Conversation.Person.away().devices, lastSeen: "now()")
      let conversation = try await Conversation(scene, [person])
      let messages = [try await conversation.say(), try await conversation.say()]
      for message in messages {
        try await scene.sql(
          """
          select tacet.read_conversation(
            '\(conversation.id)', '\(conversation.people[0])', '\(message)', '\(conversation.tokens[0][0])', true)
          """)
      }
      let syncs = try await scene.sql("select id from tacet.read_syncs").split(separator: "\n").map(String.init)
      for sync in syncs {
        let pushes = try await scene.pushes(of: sync, atLeast: 1)
        #expect(pushes.count == 1)
        #expect(pushes.map(\.status) == [200], "\(pushes)")
        #expect(pushes.map(\.token) == [conversation.tokens[0][1]])
        #expect(try await scene.settled(sync) == [conversation.people[0]: "sent "])
      }
      #expect(!syncs.isEmpty)
    }
  }
}

@Suite("Threads", .serialized)
struct ThreadTests {
  @Test("no job on the message path comes from another thread, and only the reactors' threads use the processor")
  func messagePath() async throws {
    try await ServiceScene.play(extra: ["REACTORS": "1"]) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      let first = try await conversation.say()
      _ = try await scene.pushes(of: first, atLeast: 1)
      let id = try await service.process.id
      let jobsBefore = try await service.counter("tacet_reactor_jobs_from_other_threads_total")
      let before = try processorTicks(of: id)
      let count = 500
      try await conversation.burst(of: count)
      #expect(await scene.simulator.waitForPushes(count + 1, within: .seconds(120)))
      let after = try processorTicks(of: id)
      let jobsAfter = try await service.counter("tacet_reactor_jobs_from_other_threads_total")
      #expect(jobsAfter == jobsBefore)
      for (thread, ticks) in after where thread.name != "reactor-0" {
        #expect(ticks == before[thread, default: 0], "\(thread.name) used the processor")
      }
    }
  }

  private struct ThreadName: Hashable {
    let id: String
    let name: String
  }

  /// User and system time of each thread, in clock ticks.
  private func processorTicks(of process: pid_t) throws -> [ThreadName: Int] {
    let folder = "/proc/\(process)/task"
    return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) { ticks, id in
      let stat = try String(contentsOfFile: "\(folder)/\(id)/stat", encoding: .utf8)
      let name = stat[stat.index(after: stat.firstIndex(of: "(")!)..<stat.lastIndex(of: ")")!]
      let columns = stat[stat.lastIndex(of: ")")!...].split(separator: " ")
      ticks[ThreadName(id: id, name: String(name))] = (Int(columns[12]) ?? 0) + (Int(columns[13]) ?? 0)
    }
  }
}
