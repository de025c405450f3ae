import Foundation
import PushRules
import TestIDs

/// A conversation in a test's database, with one sender and some who may be told.
struct Chat: Sendable {
  let database: TestDatabase
  let id: HostID
  let sender: HostID
  /// In the order of their ids, which is the order of a ledger look-up.
  let readers: [HostID]

  var reader: HostID { readers[0] }

  /// - Parameter database: migrated; a new one without it.
  init(readers count: Int = 1, in database: TestDatabase? = nil) async throws {
    if let database {
      self.database = database
    } else {
      self.database = try await TestDatabase.migrated()
    }
    id = HostID.new()
    sender = HostID.new()
    readers = (0..<count).map { _ in HostID.new() }.sorted { $0.text < $1.text }
    let people = [sender] + readers
    let profiles = people.map { "('\($0)', \($0 == sender ? "'Ada'" : "null"))" }.joined(separator: ", ")
    let participants = people.map { "('\(id)', '\($0)')" }.joined(separator: ", ")
    try await self.database.sql(
      """
      insert into profiles (id, name) values \(profiles);
      insert into conversations (id) values ('\(id)');
      insert into conversation_participants (conversation_id, user_id) values \(participants)
      """)
  }

  /// Inserts a message as an app does.
  /// - Parameters:
  ///   - text: an SQL expression.
  ///   - columns: further columns and the SQL expressions for them.
  @discardableResult
  func send(_ text: String = "'Hello'", _ columns: [String: String] = [:], from: HostID? = nil) async throws -> HostID {
    let message = HostID.new()
    try await database.sql(insertion(of: message, text, columns, from: from))
    return message
  }

  /// The statement that sends a message.
  func insertion(
    of message: HostID, _ text: String = "'Hello'", _ columns: [String: String] = [:], from: HostID? = nil
  ) -> String {
    let names = columns.keys.sorted()
    let columnList = (["id", "conversation_id", "from_id", "text"] + names).joined(separator: ", ")
    let values = ["'\(message)'", "'\(id)'", "'\(from ?? sender)'", text] + names.map { columns[$0] ?? "null" }
    return "insert into public.messages (\(columnList)) values (\(values.joined(separator: ", ")))"
  }

  /// Registers a device token of the first reader.
  func register(_ token: String, _ columns: [String: String] = [:], of user: HostID? = nil) async throws {
    let names = columns.keys.sorted()
    let columnList = (["user_id", "device_token"] + names).joined(separator: ", ")
    let values = ["'\(user ?? reader)'", "'\(token)'"] + names.map { columns[$0] ?? "null" }
    try await database.sql("insert into push_tokens (\(columnList)) values (\(values.joined(separator: ", ")))")
  }

  /// Says when a reader was last seen, and perhaps when they left; SQL expressions.
  func see(_ lastSeen: String, left: String = "null", user: HostID? = nil) async throws {
    try await database.sql(
      """
      update conversation_participants set last_seen = \(lastSeen), tacet_left_at = \(left)
      where user_id = '\(user ?? reader)'
      """)
  }
}
