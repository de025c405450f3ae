import Cryptography
import Foundation
import FoundationNetworking
import Simulators
import TestLogs
import Testing

@Suite("Private content leaves the machine without a word", .serialized)
struct PrivateContentTests {
  private static let body = "Zinnoberrot um Mitternacht"
  private static let words = ["Zinnoberrot", "Mitternacht", "Wilhelmina", "Zobel", "Message from"]

  @Test(
    "a phone, an Android phone and a browser get what the setting allows, and the carriers nothing else",
    arguments: ["sealed", "none", "sender"])
  func capture(_ setting: String) async throws {
    RunLogs.note(Self.body, as: .text)
    try await ChannelScene.play(extra: ["CONTENT": setting]) { channels, service in
      let scene = channels.scene
      let conversation = try await Conversation(scene, [.away(), .away()])
      let (user, keyless) = (conversation.people[0], conversation.people[1])
      let (phone, android) = (X25519PrivateKey(), X25519PrivateKey())
      let token = conversation.tokens[0][0]
      let key = Base64URL.encode(phone.publicKey.bytes)
      #expect(
        try await service.put("/v1/devices/\(token)", #"{"sealing_key": "\#(key)", "locale": "de-AT"}"#, as: user)
          .status
          == 204)
      try await channels.register(
        user, sealingKey: Base64URL.encode(android.publicKey.bytes), at: service)
      try await channels.subscribe(user, as: "browser", at: service)
      try await scene.sql("update profiles set name = 'Wilhelmina Zobel' where id = '\(conversation.sender)'")
      let message = try await conversation.say(Self.body)

      let pushes = try await scene.pushes(of: message, atLeast: 2)
      try #require(await channels.android.waitForMessages(1, within: .seconds(20)))
      let browser = try #require(try await channels.browserPushes(atLeast: 1).first)
      // All that APNs and FCM have got, headers included.
      let captured =
        try (scene.simulator.service.withLog { $0.records(PushQuery()).records }.map { try Self.text($0) })
        + channels.android.service.messages.map { "\($0)" }
      #expect(captured.count >= 3)
      for text in captured {
        for word in Self.words where setting != "sender" || !["Wilhelmina", "Zobel"].contains(word) {
          #expect(!text.contains(word), "\(setting): \(word) in \(text)")
        }
        #expect(text.contains(message))
      }
      let sealed = pushes.filter { $0.payload.contains(#""sealed":""#) }
      #expect(sealed.map(\.token) == (setting == "sealed" ? [token] : []))
      #expect(pushes.allSatisfy { $0.payload.contains(#""mutable-content":1"#) == (setting != "sender") })
      #expect(try #require(browser.content).contains(Self.body) == (setting == "sealed"))
      let notes = """
        select string_agg((a ->> 'route') || ' ' || coalesce(a ->> 'content', '-'), ',' order by a ->> 'route')
        from tacet.push_log l, jsonb_array_elements(l.history) e, jsonb_array_elements(e -> 'attempts') a
        where l.user_id = '%'
        """
      _ = try await scene.ledger(of: message, rows: 2)
      let expected =
        setting == "sealed"
        ? "com.example.app/production sealed,fcm/demo-project sealed,web_push/127.0.0.1 -"
        : "com.example.app/production \(setting),fcm/demo-project \(setting),web_push/127.0.0.1 \(setting)"
      #expect(try await scene.sql(notes.replacing("%", with: user)) == expected)
      #expect(
        try await scene.sql(notes.replacing("%", with: keyless))
          == "com.example.app/production \(setting == "sealed" ? "no_key" : setting)")
      try await Self.hasPublicKeysOnly(scene, [phone, android])
      let explanation = try await scene.explain(message).split(whereSeparator: \.isWhitespace).joined(separator: " ")
      let phrase = [
        "sealed": "sealed for the device", "none": "without content", "sender": "with the sender's name alone",
      ][setting, default: ""]
      #expect(explanation.contains(phrase), "\(explanation)")
      if setting == "sealed" { #expect(explanation.contains("has no key")) }
      #expect(!service.process.text.contains("Zinnoberrot"))
    }
  }

  private static func text(_ record: APNSPushRecord) throws -> String {
    String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
  }

  /// No table has a private key.
  private static func hasPublicKeysOnly(_ scene: ServiceScene, _ keys: [X25519PrivateKey]) async throws {
    let stored = try await scene.sql(
      "select string_agg(w.wishes, ' ') from tacet.target_wishes w union all select string_agg(t.keys, ' ') from tacet.targets t"
    )
    for key in keys {
      #expect(stored.contains(Base64URL.encode(key.publicKey.bytes)))
      #expect(!stored.contains(Base64URL.encode(key.scalar)))
    }
  }
}
