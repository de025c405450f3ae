import PushRules
import TestIDs
import Testing

@testable import PushStore

/// Chats whose outcomes the host wants to know.
struct HostEventScene: Sendable {
  let chat: Chat
  var database: TestDatabase { chat.database }

  /// - Parameters:
  ///   - events: what is announced, as an array in SQL. escalates: after how long a message is unread; nil for never.
  init(
    readers: Int = 1, _ events: String = "'{push.unread,push.sent,push.skipped,push.failed,device.dropped}'",
    escalates: String? = "5 min", sends: OutcomeDecision? = nil
  ) async throws {
    chat = try await Chat(readers: readers)
    if let escalates {
      try await database.sql("insert into tacet.escalations (kind, after) values ('message', '\(escalates)')")
    }
    try await database.sql("select tacet.announce(\(events))")
    if let sends { try await decide(sends) }
  }

  /// Sends a message and records this outcome for every reader.
  @discardableResult
  func decide(_ decision: OutcomeDecision = .sent, reason: String? = nil) async throws -> HostID {
    let message = try await chat.send()
    try await chat.record(try await PushStoreTests.claim(database)) {
      var outcome = RecipientOutcome(
        userID: $0, decision: decision, reason: reason, acceptedDevices: decision == .sent ? ["aa"] : [])
      if decision == .sent { outcome.acceptedMicroseconds = 1000 }
      return outcome
    }
    return message
  }

  /// Makes all checks due and looks.
  func look() async throws -> Int {
    try await database.sql("update tacet.unread_checks set due_at = clock_timestamp()")
    return try await withStore(database) { try await $0.checkUnread(100, on: $1) }
  }

  func claim(_ count: Int = 10, lease: Duration = .seconds(30)) async throws -> [HostEvent] {
    try await withStore(database) { try await $0.claimHostEvents(count, lease: lease, on: $1) }
  }

  @discardableResult
  func settle(
    _ event: HostEvent, _ answer: HostEventAnswer = HostEventAnswer(status: 200), givesUp: Duration = .seconds(3600)
  ) async throws -> HostEventState? {
    try await withStore(database) { try await $0.settle(event, answer, givesUp: givesUp, on: $1) }
  }

  /// The events that are kept, by their order.
  func events(_ columns: String = "type, state, reason") async throws -> String {
    try await database.sql("select \(columns) from tacet.host_events order by id")
  }
}
