import FoundationEssentials
import PushRules
import PushStore
import Reactors
import TestIDs
import TestLogs

@testable import PushPipeline

/// A conversation in the host's tables: Ann, who writes, and the people she writes to.
struct Chat {
  let id = HostID.new()
  let sender = HostID.new()
  let recipients: [HostID]
  private let rig: PipelineRig

  /// Makes the conversation; every recipient has the devices given, whose tokens get the recipient's number in front.
  init(
    of count: Int = 1, devices: [String] = ["aa"], in rig: PipelineRig, on reactor: isolated Reactor
  ) async throws {
    self.rig = rig
    recipients = (0..<count).map { _ in HostID.new() }
    var sql = "insert into public.profiles (id, name) values ('\(sender)', 'Ann');"
    sql += "insert into public.conversations (id) values ('\(id)');"
    sql += "insert into public.conversation_participants (conversation_id, user_id) values ('\(id)', '\(sender)');"
    for (number, user) in recipients.enumerated() {
      sql += "insert into public.profiles (id) values ('\(user)');"
      sql += "insert into public.conversation_participants (conversation_id, user_id) values ('\(id)', '\(user)');"
      for device in devices {
        let token = Self.prefix(number) + device
        sql += "insert into public.push_tokens (user_id, device_token) values ('\(user)', '\(token)');"
      }
    }
    try await rig.execute(sql, on: reactor)
  }

  /// A number as the beginning of a token: an even count of digits.
  private static func prefix(_ number: Int) -> String {
    let digits = "\(number)0"
    return digits.count.isMultiple(of: 2) ? digits : "0" + digits
  }

  /// Inserts messages in one transaction, as the host would; the trigger fills the inbox.
  @discardableResult
  func post(_ count: Int = 1, on reactor: isolated Reactor) async throws -> [HostID] {
    let ids = (0..<count).map { _ in HostID.new() }
    let text = "Hello from \(id)"
    RunLogs.note(text, as: .text)
    let rows = ids.map { "('\($0)', '\(id)', '\(sender)', '\(text)')" }.joined(separator: ",")
    try await rig.execute(
      "insert into public.messages (id, conversation_id, from_id, text) values \(rows)", on: reactor)
    return ids
  }

  /// Posts one message and tells the pipeline.
  func post(waking cause: WakeCause, on reactor: isolated Reactor) async throws -> HostID {
    let id = try await post(on: reactor)[0]
    rig.pipeline.wake(cause, on: reactor)
    return id
  }

  /// Every recipient was looking at the conversation this long ago.
  func see(ago: String = "0 s", on reactor: isolated Reactor) async throws {
    try await rig.execute(
      """
      update public.conversation_participants
      set last_seen = clock_timestamp() - interval '\(ago)' where user_id <> '\(sender)'
      """, on: reactor)
  }

  /// Every recipient has read everything.
  func read(on reactor: isolated Reactor) async throws {
    let users = recipients.map { "'\($0)'" }.joined(separator: ",")
    try await rig.execute("update public.messages set read_by = array[\(users)]::uuid[]", on: reactor)
  }
}
