import Foundation
import Simulators
import TestLogs
import Testing

@Suite("A phone, a browser and an Android phone", .serialized)
struct ChannelTests {
  private struct Document: Decodable {
    struct Notification: Decodable {
      let title: String
      let body: String
      let navigate: String
      let tag: String
    }
    let notification: Notification
  }

  @Test("one message is delivered to all three, and has one row in the ledger")
  func three() async throws {
    try await ChannelScene.play { channels, service in
      let scene = channels.scene
      let conversation = try await Conversation(scene, [.away()])
      let user = conversation.people[0]
      try await channels.subscribe(user, as: "browser", at: service)
      try await channels.register(user, at: service)
      let text = Conversation.newText()
      let message = try await conversation.say(text)

      #expect(try await scene.pushes(of: message, atLeast: 1).count == 1)
      let push = try #require(try await channels.browserPushes(atLeast: 1).first)
      #expect(push.status == 201 && push.urgency == "high" && push.topic == nil && push.contentFault == nil)
      let shown = try JSONDecoder().decode(Document.self, from: Data(try #require(push.content).utf8)).notification
      #expect(shown.title == "Message from Ann")
      #expect(shown.body == text)
      #expect(shown.tag == message)
      #expect(shown.navigate == "https://chat.example.com/c/\(conversation.id)")
      try #require(await channels.android.waitForMessages(1, within: .seconds(20)))
      let sent = try #require(channels.android.service.messages.first)
      #expect(sent.status == 200, "\(sent)")
      #expect(sent.token == ChannelScene.androidToken && sent.priority == "HIGH")
      #expect(sent.tag == message && sent.isNotification && sent.payload.contains(text))

      #expect(try await scene.ledger(of: message, rows: 1) == [user: "sent "])
      let row = "select count(*), max(devices_accepted) from tacet.push_log where user_id = '\(user)'"
      #expect(try await scene.sql(row) == "1|3")
      let routes = """
        select string_agg(a ->> 'route' || ' ' || (a ->> 'verdict'), ',' order by a ->> 'route')
        from tacet.push_log l, jsonb_array_elements(l.history) e, jsonb_array_elements(e -> 'attempts') a
        where l.user_id = '\(user)'
        """
      #expect(
        try await scene.sql(routes)
          == "com.example.app/production accepted,fcm/demo-project accepted,web_push/127.0.0.1 accepted")
    }
  }

  @Test("browsers and Android phones that are gone are dropped, and the phone goes on")
  func gone() async throws {
    try await ChannelScene.play { channels, service in
      let scene = channels.scene
      let conversation = try await Conversation(scene, [.away()])
      let user = conversation.people[0]
      try await channels.subscribe(user, as: "browser", at: service)
      #expect(channels.browsers.service.setState(of: "browser", to: .gone))
      let message = try await conversation.say()
      #expect(try await scene.ledger(of: message, rows: 1) == [user: "sent "])
      #expect(try await scene.sql("select channel || ' ' || drop_reason from tacet.targets").hasPrefix("web_push "))
      #expect(try await scene.sql("select count(*) from tacet.targets where dropped_at is null") == "0")
    }
  }

  @Test("while two push services hang, pushes to phones take as long as before")
  func outage() async throws {
    try await ChannelScene.play { channels, service in
      let scene = channels.scene
      let conversation = try await Conversation(scene, (0..<20).map { _ in .away() })
      for (number, user) in conversation.people.enumerated() {
        try await channels.subscribe(user, as: "browser-\(number)", at: service)
        try await channels.register(user, ChannelScene.token("token-\(number)"), at: service)
      }
      let usual = try await Self.milliseconds(of: conversation, 20)
      #expect(
        channels.browsers.service.arrange(
          PushFault(.answer, times: 10_000, status: 503, delayMilliseconds: 5000)))
      let hanging = try await Self.milliseconds(of: conversation, 20)
      print(
        "commit to APNs, median of 20 messages to 20 people each: \(usual) ms, while the browsers' service hangs \(hanging) ms"
      )
      #expect(hanging < max(3 * usual, usual + 50))
    }
  }

  /// From the commit of a message to the arrival of its last push at APNs, the median.
  private static func milliseconds(of conversation: Conversation, _ count: Int) async throws -> Double {
    var times: [Double] = []
    for _ in 0..<count {
      let start = ContinuousClock.now
      let message = try await conversation.say()
      _ = try await conversation.scene.pushes(of: message, atLeast: conversation.people.count)
      times.append((ContinuousClock.now - start) / .milliseconds(1))
    }
    return times.sorted()[count / 2]
  }
}
