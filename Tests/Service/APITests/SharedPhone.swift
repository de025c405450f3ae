import FoundationEssentials
import PushPipeline
import PushRules
import PushStore
import Reactors
import TestIDs
import Testing

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
    for _ in 0..<1000 where try await decision(on: message).hasPrefix("held") {
      await rig.parts.perform { parts, reactor in
        await parts.pipeline.waitForRecord(of: .message(message), .milliseconds(10), on: reactor)
      }
    }
  }

  /// Makes everything that waits due now, and tells the pipeline.
  func makeDue() async throws {
    try await rig.psql("update tacet.deliveries set due_at = now()")
    await rig.parts.perform { parts, reactor in parts.pipeline.wake(.due, on: reactor) }
  }

  /// APNs answers the next push like this.
  func answerNext(_ answer: PushAnswer) async {
    await rig.parts.perform { parts, _ in parts.channel.answers.append(answer) }
  }

  /// The messages that the phone was sent, in order.
  func shown() async -> [HostID] {
    await rig.parts.perform { parts, _ in
      parts.channel.requests.filter { $0.head.deviceToken.hexadecimal == token }
        .compactMap { $0.head.collapseIdentifier.flatMap { HostID(text: $0.text) } }
    }
  }
}
