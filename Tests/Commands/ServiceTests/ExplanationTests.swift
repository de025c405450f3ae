import Foundation
import Simulators
import TestProcesses
import Testing

/// What `tacet explain` says of what really happened. Each prints its explanation.
@Suite("An explanation", .serialized)
struct ExplanationTests {
  @Test("tells of a group who was sent to, who was looking, who had read and who has no device")
  func group() async throws {
    try await ServiceScene.play { scene, _ in
      let conversation = try await Conversation(scene, [.away(), .viewing(), .away(), .init()])
      let message = try await conversation.say(readBy: [conversation.people[2]])
      _ = try await scene.ledger(of: message, held: 1, others: 3)
      let all = try await scene.explain(message)
      #expect(all.contains("4 recipients: 1 sent, 1 held, 2 skipped."))
      for (user, sentence) in zip(
        conversation.people,
        [
          "A push was sent: it was accepted for 1 device",
          "No push yet, because the user was looking at the conversation: the app reported it",
          "No push, because the user had read the message.", "No push, because the user had no device to send it to.",
        ])
      {
        let one = try await scene.explain(message, user: user)
        #expect(one.contains("user \(user)\n  \(sentence)"), "\(one)")
      }
      let sender = try await scene.explain(message, user: conversation.sender)
      #expect(
        sender.contains("the message is the user's own") && sender.contains("Not told about here: 4 recipients more."))
      #expect(all.contains("by PostgreSQL's notification") || all.contains("by its poll"))
      #expect(all.contains("process "), "who claimed is named by machine and process")
      #expect(!conversation.tokens.joined().contains { all.contains($0) }, "device tokens are shortened")
    }
  }

  @Test(
    "tells what ended a hold before its time",
    arguments: [
      ("update conversation_participants set tacet_left_at = now() where user_id = '$user'", "then the user left."),
      (
        "update conversation_participants set last_seen = clock_timestamp() where user_id = '$user'",
        "No push, because the user has looked at the conversation since: the app reported it"
      ),
      (
        "update messages set read_by = array_append(read_by, '$user')",
        "No push, because the user had read the message."
      ),
      ("delete from messages", "No push, because the message, or what it is about, had been deleted."),
      (
        "delete from conversation_participants where user_id = '$user'",
        "No push, because the user took no part in the conversation any more."
      ),
      (
        "select tacet.put_preferences('$user', null, null, null, null, '{message}', '{}', '{}', '{}', '{}')",
        "No push, because the user wants no pushes of the kind message."
      ),
    ])
  func released(_ change: String, _ sentence: String) async throws {
    try await ServiceScene.play(extra: ["SUPPRESSION_WINDOW_SECONDS": "600"]) { scene, _ in
      let conversation = try await Conversation(scene, [.viewing()])
      let user = conversation.people[0]
      let message = try await conversation.say()
      _ = try await scene.ledger(of: message, held: 1)
      try await scene.sql(change.replacing("$user", with: user))
      _ = try await scene.settled(message)
      let text = try await scene.explain(message, user: user)
      #expect(text.unwrapped.contains(sentence), "\(text)")
      #expect(text.unwrapped.contains("Until then it was held, because the user was looking at the conversation"))
      #expect(text.contains("  released: "))
    }
  }

  @Test("tells of a user's newest pushes without their ids, and of every reason")
  func user() async throws {
    try await ServiceScene.play { scene, _ in
      let conversation = try await Conversation(scene, [.away(), .init()])
      let first = try await conversation.say()
      _ = try await scene.settled(first)
      let second = try await conversation.say()
      _ = try await scene.settled(second)
      let told = try await scene.explain(["--user", conversation.people[1]])
      let lines = told.split(separator: "\n")
      #expect(lines[0].hasSuffix("Z message \(second)") && lines[2].hasSuffix("Z message \(first)"), "\(told)")
      #expect(lines[1] == "  No push, because the user had no device to send it to." && lines[1] == lines[3])
      #expect(lines[4].hasPrefix("2 events of user \(conversation.people[1])") && lines.count == 6)
      #expect(
        try await scene.explain(["--user", conversation.people[0], "--since", "5m"]).contains("A push was sent:"))
      let nobody = try await scene.explain(["--user", conversation.sender, "--since", "7d"], exitCode: 1)
      #expect(nobody.contains("Nothing was decided about a push") && nobody.unwrapped.contains("in the last 7d"))
      for wrong in ["1", "0h", "1w", "-1h", "h", "99999999999d"] {
        _ = try await scene.explain(["--user", conversation.people[0], "--since=\(wrong)"], exitCode: 64)
      }
      #expect(try await scene.explain(["--reasons"]).contains("\n  user_viewing "))
      _ = try await scene.explain(["--reasons", "--user", conversation.people[0]], exitCode: 2)
    }
  }

  @Test("tells of a hold that its time has ended")
  func time() async throws {
    try await ServiceScene.play(extra: ["SUPPRESSION_WINDOW_SECONDS": "600"]) { scene, _ in
      let conversation = try await Conversation(scene, [.viewing()])
      let message = try await conversation.say()
      _ = try await scene.ledger(of: message, held: 1)
      // The user looked away long ago, and the time of the hold is over, without anybody telling.
      try await scene.sql(
        """
        begin;
        set local session_replication_role = replica;
        update conversation_participants set last_seen = last_seen - interval '1 hour';
        update tacet.deliveries set due_at = clock_timestamp();
        commit
        """)
      _ = try await scene.settled(message)
      let text = try await scene.explain(message)
      #expect(text.unwrapped.contains("then the time of the hold was over."), "\(text)")
      #expect(text.contains("the hold was over: its time had come"))
    }
  }

  @Test("tells of a token that APNs called dead, and of the app that was opened")
  func dropped() async throws {
    try await ServiceScene.play { scene, _ in
      let person = Conversation.Person(devices: [Conversation.newToken(), Conversation.newToken()])
      let conversation = try await Conversation(scene, [person, .away()])
      let end = Int64(Date().timeIntervalSince1970 * 1000) + 1000
      scene.register(person.devices[0], end: .unregistered(atMilliseconds: end))
      scene.register(conversation.tokens[1][0], end: .unregistered(atMilliseconds: end))
      let message = try await conversation.say()
      _ = try await scene.settled(message)
      let text = try await scene.explain(message, user: conversation.people[0])
      let refusal = "\(person.devices[0].prefix(8)): the app is no longer on the device, or was registered anew"
      #expect(text.unwrapped.contains("for 1 device"))
      #expect(text.unwrapped.contains("Not for \(refusal) (Unregistered)."), "\(text)")
      #expect(text.contains("  dropped "))
      let only = try await scene.explain(message, user: conversation.people[1])
      #expect(only.unwrapped.contains("No push: it was to go to device"), "\(only)")
      #expect(only.unwrapped.contains("The token was dropped."))
    }
  }

  @Test("tells of a service that was killed between send and record, and of the one that sent again")
  func crashed() async throws {
    let scene = try await ServiceScene()
    let conversation = try await Conversation(scene, [.away()])
    scene.register(conversation.tokens[0][0], delayMilliseconds: 60_000)
    let first = try await scene.startService()
    let message = try await conversation.say()
    _ = try await scene.pushes(of: message, atLeast: 1)
    try await first.process.signal(SIGKILL)
    _ = try await first.process.exitCode()
    // The lease of the dead process lasts for a while, and then ends, now instead of in some seconds.
    for (lease, words) in [("5 min", "which has it in hand or takes it next"), ("0", "lost its lease")] {
      try await scene.sql("update tacet.instances set lease_until = now() + interval '\(lease)'")
      let between = try await scene.explain(message)
      #expect(between.unwrapped.contains(words), "\(between)")
    }
    scene.register(conversation.tokens[0][0])
    let second = try await scene.startService()
    let pushes = try await scene.pushes(of: message, atLeast: 2)
    _ = try await scene.settled(message)
    let text = try await scene.explain(message)
    #expect(text.unwrapped.contains("It was claimed after a change of its owner; if the one before had sent it"))
    #expect(text.contains(try #require(pushes.first).identifier.lowercased()))
    try await second.stop()
    await scene.simulator.stop()
  }

  @Test("tells of what was too old, and of what was set aside")
  func late() async throws {
    let scene = try await ServiceScene()
    let conversation = try await Conversation(scene, [.away()])
    let (old, poisoned) = (try await conversation.say(), try await conversation.say())
    #expect(try await scene.explain(old).unwrapped.contains("No push yet: the message has been in the inbox for"))
    try await scene.sql(
      """
      update tacet.inbox set enqueued_at = now() - interval '2 hours' where subject_id = '\(old)';
      update tacet.inbox set is_claimed = true, rescues = 100, attempts = 100 where subject_id = '\(poisoned)'
      """)
    let service = try await scene.startService()
    _ = try await scene.settled(old)
    let text = try await scene.explain(old)
    #expect(text.unwrapped.contains("No push, because the message was 2 h old by then, and is worth a push for 1 h."))
    try await scene.wait(for: "1", to: "select count(*) from tacet.parked")
    let parked = try await scene.explain(poisoned)
    #expect(parked.unwrapped.contains("it was set aside (parked) after 100 claims"), "\(parked)")
    try await service.stop()
    await scene.simulator.stop()
  }

  @Test(
    "tells of the user's own wishes",
    arguments: [
      ("'{$conversation}', '{true}', '{null}', '{false}'", "the user has muted the conversation or its sender."),
      ("'{$conversation}', '{false}', '{null}', '{true}'", "the user wants to hear of mentions only here"),
      ("'{}', '{}', '{}', '{}'", "it was within the user's quiet hours, for another"),
    ])
  func wishes(_ conversations: String, _ clause: String) async throws {
    try await ServiceScene.play { scene, _ in
      let conversation = try await Conversation(scene, [.away()])
      let quiet = "(now() at time zone 'UTC' - interval '1 hour')::time"
      try await scene.sql(
        """
        select tacet.put_preferences(
          '\(conversation.people[0])', \(quiet), \(quiet) + interval '2 hours', 'UTC', 'hold', '{}',
          \(conversations.replacing("$conversation", with: conversation.id)))
        """)
      let message = try await conversation.say()
      // Of a hold for another cause no reason is told.
      try await scene.wait(
        for: "1", to: "select count(*) from tacet.push_log where subject_id = '\(message)' and reason is not null")
      let text = try await scene.explain(message)
      #expect(text.unwrapped.contains(clause), "\(text)")
      #expect(text.contains("wishes         "))
    }
  }

  @Test("of nothing known says so, and exits with 1; what cannot be asked exits with 2")
  func exits() async throws {
    let scene = try await ServiceScene()
    let id = UUID().uuidString.lowercased()
    let unknown = try ServiceProcess(["explain", "--message", id], settings: scene.databaseSettings)
    #expect(try await unknown.exitCode() == 1)
    #expect(unknown.text.contains("Nothing is known of a message with this id"))
    for (arguments, settings) in [
      (["--message", "x"], scene.databaseSettings), (["--message", id, "--user", "x"], scene.databaseSettings),
      (["--message", id, "--kind", "X"], scene.databaseSettings), (["--message", id], [:]),
      (["--message", id], ["DATABASE_URL": "host=/nowhere user=nobody"]),
    ] {
      let run = try ServiceProcess(["explain"] + arguments, settings: settings)
      #expect(try await run.exitCode() == 2, "\(run.text)")
      #expect(run.text.contains("tacet explain: "))
    }
    await scene.simulator.stop()
  }
}

extension ServiceScene {
  /// What a command needs that only looks into the database.
  var databaseSettings: [String: String] { settings.filter { $0.key.hasPrefix("DATABASE") } }

  /// What `tacet explain` prints; printed here as well.
  func explain(_ message: String, user: String? = nil) async throws -> String {
    try await explain(["--message", message] + (user.map { ["--user", $0] } ?? []))
  }

  func explain(_ arguments: [String], exitCode: Int = 0) async throws -> String {
    let run = try ServiceProcess(["explain"] + arguments, settings: databaseSettings)
    try #require(try await run.exitCode() == exitCode, "\(run.text)")
    let text = run.text.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasPrefix("pid ") && !$0.hasPrefix("exit ") }.joined(separator: "\n")
    print("\n\(text)")
    return text
  }
}

extension String {
  /// On one line, as before it was broken into lines.
  fileprivate var unwrapped: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
