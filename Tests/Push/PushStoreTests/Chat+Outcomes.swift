import Foundation
import PushRules
import TestIDs
import Testing

@testable import PushStore

extension Chat {
  /// Sends a message unless something waits already, claims, and records an outcome for every recipient.
  func decide(_ outcome: @escaping @Sendable (HostID) -> RecipientOutcome) async throws {
    if try await left() == "0|0" { try await send() }
    try await record(try await claim(database), outcome)
  }

  /// Records an outcome for every recipient of claimed events.
  func record(
    _ events: [PushEvent], dead: [DeadTarget] = [],
    _ outcome: @escaping @Sendable (HostID) -> RecipientOutcome
  ) async throws {
    #expect(!events.isEmpty)
    let decided = events.enumerated().map { number, event in
      DecidedEvent(
        event: event, outcomes: event.recipients.map { outcome($0.userID) }, deadTargets: number == 0 ? dead : [],
        wokenBy: "notify")
    }
    try await withStore(database) { try await $0.record(decided, on: $1) }
  }

  /// Records a retry at once, with devices that wait for longer.
  func retry(_ events: [PushEvent], waits: [String: DeviceWait]) async throws {
    try await record(events) { user in
      var outcome = RecipientOutcome(
        userID: user, decision: .held, reason: "http_503", due: .zero, remaining: .retryable)
      outcome.deviceWaits = waits
      return outcome
    }
  }

  /// The ledger in every column a record writes.
  func ledger() async throws -> String {
    try await database.sql(
      """
      select push_type, decision, reason, '', devices_accepted, attempts, woken_microseconds, decided_microseconds,
        accepted_microseconds, coalesce(held_until, sent_at) - claimed_at, '', opened, woken_by, content, metadata
      from tacet.push_log where enqueued_at <= claimed_at
      """)
  }

  /// The one row of remaining work.
  func delivery() async throws -> String {
    try await database.sql(
      """
      select d.state, d.attempts, d.due_at - l.claimed_at, d.accepted_devices, d.enqueued_at = l.enqueued_at
      from tacet.deliveries d join tacet.push_log l using (subject_id, user_id)
      """)
  }

  /// Rows in the inbox and in the queue.
  func left() async throws -> String {
    try await database.sql("select (select count(*) from tacet.inbox), (select count(*) from tacet.deliveries)")
  }
}
