import Foundation
import Simulators
import TestLogs
import TestProcesses

/// A conversation of a sender with others, written by SQL as a host would.
struct Conversation {
  /// What a recipient is like.
  struct Person {
    var devices: [String] = []
    /// SQL for `last_seen`.
    var lastSeen = "null"

    /// Has left long ago, with one device.
    static func away() -> Person { Person(devices: [newToken()]) }
    /// Is looking now.
    static func viewing() -> Person { Person(devices: [newToken()], lastSeen: "now()") }
  }

  let scene: ServiceScene
  let id = UUID().uuidString.lowercased()
  let sender = UUID().uuidString.lowercased()
  let people: [String]
  let tokens: [[String]]

  init(_ scene: ServiceScene, _ people: [Person]) async throws {
    self.scene = scene
    self.people = people.map { _ in UUID().uuidString.lowercased() }
    tokens = people.map(\.devices)
    var sql = """
      insert into profiles (id, name) values ('\(sender)', 'Ann');
      insert into conversations (id) values ('\(id)');
      insert into conversation_participants (conversation_id, user_id) values ('\(id)', '\(sender)');
      """
    for (person, user) in zip(people, self.people) {
      sql += """
        insert into profiles (id, name) values ('\(user)', 'Recipient');
        insert into conversation_participants (conversation_id, user_id, last_seen)
        values ('\(id)', '\(user)', \(person.lastSeen));
        """
      for token in person.devices {
        sql += "insert into push_tokens (user_id, device_token) values ('\(user)', '\(token)');"
        scene.register(token)
      }
    }
    try await scene.sql(sql)
  }

  /// Commits a message; its id.
  func say(_ text: String = newText(), readBy: [String] = []) async throws -> String {
    RunLogs.note(text, as: .text)
    let readers = "array[" + readBy.map { "'\($0)'" }.joined(separator: ",") + "]::uuid[]"
    return try await scene.sql(
      """
      insert into messages (conversation_id, from_id, text, read_by)
      values ('\(id)', '\(sender)', '\(text.replacingOccurrences(of: "'", with: "''"))', \(readers)) returning id
      """)
  }

  /// Commits `count` messages one after the other, each in a transaction of its own.
  func burst(of count: Int) async throws {
    try await scene.sql(
      """
      do $$ begin for i in 1..\(count) loop
        insert into messages (conversation_id, from_id, text) values ('\(id)', '\(sender)', 'message ' || i);
        commit;
      end loop; end $$
      """)
  }

  static func newToken() -> String {
    let token = (0..<32).map { _ in String(format: "%02x", UInt8.random(in: 0...255)) }.joined()
    RunLogs.note(token, as: .deviceToken)
    return token
  }

  /// Words that stand nowhere else.
  static func newText() -> String { "see you at \(UInt64.random(in: .min ... .max))" }
}

extension ServiceScene {
  /// The pushes of a message that the simulator has seen, once there are as many as expected.
  func pushes(of message: String, atLeast count: Int) async throws -> [APNSPushRecord] {
    var query = PushQuery()
    query.collapseID = message
    var total = 0
    while true {
      let (found, now) = simulator.service.withLog { ($0.records(query).records, $0.total) }
      if found.count >= count { return found }
      total = now
      guard await simulator.waitForPushes(total + 1, within: .seconds(20)) else {
        throw TestProcessError(description: "\(found.count) of \(count) pushes of \(message) arrived")
      }
    }
  }

  /// The ledger of a message once every recipient has a row, as `user decision reason` lines.
  func ledger(of message: String, rows: Int) async throws -> [String: String] {
    let sql = "select user_id, decision, coalesce(reason, '') from tacet.push_log where subject_id = '\(message)'"
    let deadline = ContinuousClock.now + .seconds(20)
    while true {
      let lines = try await self.sql(sql).split(separator: "\n")
      if lines.count >= rows {
        return Dictionary(
          uniqueKeysWithValues: lines.map { line in
            let columns = line.split(separator: "|", omittingEmptySubsequences: false)
            return (String(columns[0]), columns.dropFirst().joined(separator: " "))
          })
      }
      guard ContinuousClock.now < deadline else {
        throw TestProcessError(description: "\(lines.count) of \(rows) ledger rows of \(message)")
      }
    }
  }
}
