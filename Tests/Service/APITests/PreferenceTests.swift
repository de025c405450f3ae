import Channels
import FoundationEssentials
import HTTP1
import Operations
import PushPipeline
import PushRules
import PushStore
import Reactors
import TestIDs
import Testing

@testable import API

@Suite("The document of preferences")
struct PreferenceDocumentTests {
  @Test("a document that is cut anywhere is refused, and whole it says the same when it is written and read again")
  func cut() throws {
    let text = """
      {"content":"sealed","conversations":[{"conversation_id":"0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11","mentions_only":true,"muted":true,\
      "muted_until":"2026-01-31T20:15:00.120Z"}],"disabled_kinds":["message"],"quiet_hours":{"end":"07:00",\
      "policy":"drop","start":"22:00","time_zone":"Europe/Berlin"},"unread_after":{"digest":0,"message":10}}
      """
    let bytes = Array(text.utf8)
    for length in bytes.indices {
      #expect(throws: ProblemDetails.self) {
        try RequestContent.decode(PreferenceDocument.self, from: Array(bytes[..<length]))
      }
    }
    #expect(try RequestContent.decode(PreferenceDocument.self, from: bytes).json.encoded() == bytes)
  }

  @Test(
    "what cannot be meant is refused by its name",
    arguments: [
      (#"{"quiet_hours":{"start":"22:00"}}"#, "quiet_hours.end"),
      (#"{"quiet_hours":{"start":"22:00","end":"22:00"}}"#, "quiet_hours.end"),
      (#"{"quiet_hours":{"start":"24:00","end":"22:00"}}"#, "quiet_hours.start"),
      (#"{"quiet_hours":{"start":"21:00","end":"22:00","policy":"wait"}}"#, "quiet_hours.policy"),
      (#"{"quiet_hours":{"start":"21:00","end":"22:00","time_zone":"a b"}}"#, "quiet_hours.time_zone"),
      (#"{"quiet_hours":[]}"#, "quiet_hours"),
      (#"{"content":"some"}"#, "content"), (#"{"content":1}"#, "content"),
      (#"{"disabled_kinds":["a","a"]}"#, "disabled_kinds"),
      (#"{"disabled_kinds":["a b"]}"#, "disabled_kinds"),
      (#"{"disabled_kinds":[""]}"#, "disabled_kinds"),
      (#"{"disabled_kinds":["\#(String(repeating: "k", count: 65))"]}"#, "disabled_kinds"),
      (#"{"disabled_kinds":[\#(list(65) { "\"k\($0)\"" })]}"#, "disabled_kinds"),
      (#"{"unread_after":{"a":9}}"#, "unread_after"), (#"{"unread_after":{"a":604801}}"#, "unread_after"),
      (#"{"unread_after":{"a":-1}}"#, "unread_after"), (#"{"unread_after":{"a b":60}}"#, "unread_after"),
      (#"{"unread_after":{\#(list(65) { "\"k\($0)\":60" })}}"#, "unread_after"),
      (#"{"conversations":[{"muted":true}]}"#, "conversations[0].conversation_id"),
      (#"{"conversations":[\#(list(2) { _ in conversation(0) })]}"#, "conversations"),
      (#"{"conversations":[\#(list(1001, conversation))]}"#, "conversations"),
    ])
  func refused(text: String, field: String) {
    do {
      _ = try RequestContent.decode(PreferenceDocument.self, from: Array(text.utf8), limits: PreferenceDocument.limits)
      Issue.record("it was taken")
    } catch {
      #expect(error.extensions.map(\.value) == [.string(field)])
    }
  }

  @Test("as much as is allowed is taken")
  func bounds() throws {
    let kinds = Self.list(63) { "\"k\($0)\"" } + ",\"\(String(repeating: "k", count: 64))\""
    let text = #"{"disabled_kinds":[\#(kinds)],"conversations":[\#(Self.list(1000, Self.conversation))]}"#
    let document = try RequestContent.decode(
      PreferenceDocument.self, from: Array(text.utf8), limits: PreferenceDocument.limits)
    #expect(document.preferences.disabledKinds.count == 64)
    #expect(document.preferences.conversations.count == 1000)
  }

  private static func list(_ count: Int, _ element: (Int) -> String) -> String {
    (0..<count).map(element).joined(separator: ",")
  }

  private static func conversation(_ number: Int) -> String {
    #"{"conversation_id":"00000000-0000-0000-0000-\#(100_000_000_000 + number)"}"#
  }
}

@Suite("Preferences over HTTP")
struct PreferenceRoutesTests {
  private static let defaults = #"{"conversations":[],"disabled_kinds":[],"quiet_hours":null,"unread_after":{}}"#

  @Test("whoever said nothing has the defaults; a document is answered as it was stored, and the next one replaces it")
  func replaced() async throws {
    try await ServiceRig.run { rig in
      let (user, other) = (try await rig.makeUser(), try await rig.makeUser())
      #expect(try await rig.ask("GET", "/v1/preferences", as: user).body == Self.defaults)
      let body = """
        {"quiet_hours": {"start": "22:00", "end": "07:05"}, "disabled_kinds": ["message"],
        "conversations": [
          {"conversation_id": "0B6F9A52-53C4-4D3C-9D0C-5F2C4F3B8F11", "muted": true, "muted_until": "2026-01-31T20:15:00+01:00"},
          {"conversation_id": "00000000-0000-0000-0000-000000000001", "mentions_only": true}],
        "unread_after": {"message": 900, "digest": 0}}
        """
      let stored = """
        {"conversations":[{"conversation_id":"00000000-0000-0000-0000-000000000001","mentions_only":true,"muted":false,\
        "muted_until":null},{"conversation_id":"0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11","mentions_only":false,"muted":true,\
        "muted_until":"2026-01-31T19:15:00.000Z"}],"disabled_kinds":["message"],"quiet_hours":{"end":"07:05",\
        "policy":"hold","start":"22:00","time_zone":null},"unread_after":{"digest":0,"message":900}}
        """
      let answer = try await rig.ask("PUT", "/v1/preferences", as: user, body: body)
      #expect(answer.status == 200)
      #expect(answer.body == stored)
      #expect(try await rig.ask("GET", "/v1/preferences", as: user).body == stored)
      #expect(try await rig.ask("PUT", "/v1/preferences", as: user, body: stored).body == stored)
      #expect(try await rig.ask("GET", "/v1/preferences", as: other).body == Self.defaults)
      #expect(try await rig.ask("PUT", "/v1/preferences", as: user, body: "{}").body == Self.defaults)
    }
  }

  @Test("a time zone that nobody knows is refused and changes nothing; so is a stranger")
  func refused() async throws {
    try await ServiceRig.run { rig in
      let user = try await rig.makeUser()
      let body = #"{"quiet_hours": {"start": "22:00", "end": "07:00", "time_zone": "Europe/Nowhere"}}"#
      let answer = try await rig.ask("PUT", "/v1/preferences", as: user, body: body)
      #expect(answer.status == 422)
      #expect(answer.body.contains(#""field":"quiet_hours.time_zone""#))
      #expect(try await rig.ask("GET", "/v1/preferences", as: user).body == Self.defaults)
      #expect(try await rig.ask("GET", "/v1/preferences").status == 401)
      #expect(try await rig.ask("PUT", "/v1/preferences", body: "{}").status == 401)
    }
  }
}

@Suite("What preferences do to pushes")
struct PreferenceEffectTests {
  @Test("each wish keeps a message back with its reason, and without it messages come again")
  func wishes() async throws {
    try await ServiceRig.run { rig in
      let phone = try await SharedPhone(rig)
      let user = try await rig.makeUser()
      try await phone.logIn(user)
      let conversation = HostID.new()
      let wish = #""conversation_id":"\#(conversation)""#
      let documents = [
        (#"{"disabled_kinds":["message"]}"#, "skipped|opted_out"),
        (#"{"conversations":[{\#(wish),"muted":true}]}"#, "skipped|muted"),
        (#"{"conversations":[{\#(wish),"muted":true,"muted_until":"2999-01-01T00:00:00Z"}]}"#, "skipped|muted"),
        (#"{"conversations":[{\#(wish),"mentions_only":true}]}"#, "skipped|not_mentioned"),
        (#"{"conversations":[{\#(wish),"muted":true,"muted_until":"2020-01-01T00:00:00Z"}]}"#, "sent|"),
        ("{}", "sent|"),
      ]
      for (document, expected) in documents {
        #expect(try await rig.ask("PUT", "/v1/preferences", as: user, body: document).status == 200)
        let message = try await phone.write(to: user, in: conversation)
        #expect(try await phone.decision(on: message) == expected, "\(document)")
      }
      #expect(await phone.shown().count == 2)
    }
  }

  @Test("a mention comes through to somebody who wants nothing else")
  func mentioned() async throws {
    try await ServiceRig.run { rig in
      let phone = try await SharedPhone(rig)
      let user = try await rig.makeUser()
      try await phone.logIn(user)
      let conversation = HostID.new()
      let document = #"{"conversations":[{"conversation_id":"\#(conversation)","mentions_only":true}]}"#
      #expect(try await rig.ask("PUT", "/v1/preferences", as: user, body: document).status == 200)
      let message = try await phone.write(to: user, in: conversation, "Are you there, @ann?")
      #expect(try await phone.decision(on: message) == "sent|")
    }
  }

  @Test("quiet hours hold in the device's own time zone, and whoever ends them gets what was held at once")
  func quietHours() async throws {
    try await ServiceRig.run { rig in
      let phone = try await SharedPhone(rig)
      let user = try await rig.makeUser()
      #expect(
        try await rig.ask("PUT", "/v1/devices/\(phone.token)", as: user, body: #"{"time_zone":"Asia/Kathmandu"}"#)
          .status
          == 204)
      #expect(
        try await rig.ask("PUT", "/v1/preferences", as: user, body: try await Self.quietNow(rig, "hold")).status == 200)
      let held = try await phone.write(to: user)
      #expect(try await phone.decision(on: held) == "held|quiet_hours")
      #expect(await phone.shown() == [])
      #expect(
        try await rig.ask("PUT", "/v1/preferences", as: user, body: try await Self.quietNow(rig, "drop")).status == 200)
      try await phone.settled(held)
      #expect(try await phone.decision(on: held) == "skipped|quiet_hours")
      #expect(
        try await rig.ask("PUT", "/v1/preferences", as: user, body: try await Self.quietNow(rig, "hold")).status == 200)
      let next = try await phone.write(to: user)
      #expect(try await phone.decision(on: next) == "held|quiet_hours")
      #expect(try await rig.ask("PUT", "/v1/preferences", as: user, body: "{}").status == 200)
      try await phone.settled(next)
      #expect(await phone.shown() == [next])
    }
  }

  /// Quiet hours around the present minute in Nepal, 05:45 ahead of UTC.
  private static func quietNow(_ rig: ServiceRig, _ policy: String) async throws -> String {
    let hour = "to_char(now() at time zone 'Asia/Kathmandu'"
    let times = try await rig.psql("select \(hour) - interval '1 h', 'HH24:MI'), \(hour) + interval '1 h', 'HH24:MI')")
    let ends = times.dropLast().split(separator: "|")
    return #"{"quiet_hours":{"start":"\#(ends[0])","end":"\#(ends[1])","policy":"\#(policy)"}}"#
  }
}

@Suite("Two people and one phone")
struct SharedPhoneTests {
  @Test(
    "whoever logs in last gets the messages; the one before gets none there, also none that was held or tried again")
  func handedOver() async throws {
    try await ServiceRig.run { rig in
      let phone = try await SharedPhone(rig)
      let (ann, ben) = (try await rig.makeUser(), try await rig.makeUser())
      try await phone.logIn(ann)
      let first = try await phone.write(to: ann)
      #expect(try await phone.decision(on: first) == "sent|")
      await phone.answerNext(APNSAnswer(status: 429, reason: "TooManyRequests"))
      let retried = try await phone.write(to: ann)
      #expect(try await phone.decision(on: retried) == "held|TooManyRequests")
      let held = try await phone.write(to: ann, isLooking: true)
      #expect(try await phone.decision(on: held) == "held|user_viewing")
      #expect(await phone.shown() == [first, retried])

      try await phone.logIn(ben)
      try await rig.psql("update public.conversation_participants set tacet_left_at = now()")
      try await phone.makeDue()
      for message in [retried, held] {
        try await phone.settled(message)
        #expect(try await phone.decision(on: message) == "skipped|no_tokens")
      }
      let later = try await phone.write(to: ann)
      #expect(try await phone.decision(on: later) == "skipped|no_tokens")
      let last = try await phone.write(to: ben)
      #expect(try await phone.decision(on: last) == "sent|")
      #expect(await phone.shown() == [first, retried, last])
    }
  }

  @Test("after a log-out nothing comes, and after the next log-in what comes is new")
  func loggedOut() async throws {
    try await ServiceRig.run { rig in
      let phone = try await SharedPhone(rig)
      let ann = try await rig.makeUser()
      try await phone.logIn(ann)
      let held = try await phone.write(to: ann, isLooking: true)
      try await phone.logOut(ann)
      try await rig.psql("update public.conversation_participants set tacet_left_at = now()")
      try await phone.makeDue()
      try await phone.settled(held)
      #expect(try await phone.decision(on: held) == "skipped|no_tokens")
      #expect(await phone.shown() == [])
      try await phone.logIn(ann)
      let last = try await phone.write(to: ann)
      #expect(await phone.shown() == [last])
    }
  }
}

/// One phone, the people who log in on it, and somebody who writes to them.
struct SharedPhone: Sendable {
  let rig: ServiceRig
  let token = "aa0f"
  private let sender = HostID.new()

  /// Makes the sender, and lets the pipeline work.
  init(_ rig: ServiceRig) async throws {
    self.rig = rig
    try await rig.psql("insert into public.profiles (id, name) values ('\(sender)', 'Sender')")
    rig.startPipeline()
  }

  /// Registers the phone for a user.
  func logIn(_ user: String) async throws {
    #expect(try await rig.ask("PUT", "/v1/devices/\(token)", as: user, body: "{}").status == 204)
  }

  func logOut(_ user: String) async throws {
    #expect(try await rig.ask("DELETE", "/v1/devices/\(token)", as: user).status == 204)
  }

  /// Writes to a user in a conversation, which the user may be looking at, and waits for a decision.
  func write(
    to user: String, in conversation: HostID = HostID.new(), isLooking: Bool = false, _ text: String = "Hello"
  ) async throws -> HostID {
    let message = HostID.new()
    try await rig.psql(
      """
      insert into public.conversations (id) values ('\(conversation)') on conflict do nothing;
      insert into public.conversation_participants (conversation_id, user_id, last_seen)
        values ('\(conversation)', '\(sender)', null), ('\(conversation)', '\(user)', \(isLooking ? "now()" : "null"))
        on conflict do nothing;
      insert into public.messages (id, conversation_id, from_id, text)
        values ('\(message)', '\(conversation)', '\(sender)', '\(text)')
      """)
    #expect(try await rig.webhook(#"{"message_id":"\#(message)"}"#).status == 200)
    return message
  }

  /// The decision on a message for its one recipient, with the reason; nothing else is waited for.
  func decision(on message: HostID) async throws -> String {
    let outcome = "select decision, coalesce(reason, '') from tacet.push_log where subject_id = '\(message)'"
    return String(try await rig.psql(outcome).dropLast())
  }

  /// Waits until a message is no longer held.
  func settled(_ message: HostID) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try await decision(on: message).hasPrefix("held"), ContinuousClock.now < deadline {
      await rig.parts.perform { parts, reactor in
        await PipelineHandle(parts.pipeline, on: reactor).waitForRecord(of: .message(message), .milliseconds(10))
      }
    }
  }

  /// Makes everything that waits due now, and tells the pipeline.
  func makeDue() async throws {
    try await rig.psql("update tacet.deliveries set due_at = now()")
    await rig.parts.perform { parts, reactor in parts.pipeline.wake(.due, on: reactor) }
  }

  /// APNs answers the next push like this.
  func answerNext(_ answer: APNSAnswer) async {
    await rig.parts.perform { parts, _ in parts.channel.answers.append(answer) }
  }

  /// The messages that the phone was sent, in order.
  func shown() async -> [HostID] {
    await rig.parts.perform { parts, _ in
      parts.channel.requests.filter { $0.deviceToken.hexadecimal == token }
        .compactMap { $0.collapseIdentifier.flatMap { HostID(text: $0.text) } }
    }
  }
}
