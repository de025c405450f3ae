import Foundation
import Postgres
import PushRules
import Reactors
import TestRandomness
import Testing

@testable import PushStore

/// What several sessions do to the same few deliveries, by chance.
final class RacingWork {
  private struct Pair: Hashable {
    let message: HostID
    let user: HostID
  }

  private let chat: Chat
  private let messages: [HostID]
  private var generator: SeededGenerator
  private var sent: Set<Pair> = []
  /// Recipients' outcomes that were handed to a record.
  private(set) var recorded = 0

  init(chat: Chat, messages: [HostID], seed: UInt64) {
    self.chat = chat
    self.messages = messages
    generator = SeededGenerator(seed: seed)
  }

  /// Claims with leases that often run out at once, and records in any order what may be somebody else's by then.
  func serve(_ session: Session, rounds: Int, on reactor: isolated Reactor) async throws {
    for _ in 0..<rounds {
      let lease = Duration.seconds(draw(3) == 0 ? 60 : 0)
      let claimed = try await session.claim(lease: lease, on: reactor).shuffled(using: &generator)
      let half = claimed.count / 2
      try await record([Array(claimed[..<half]), Array(claimed[half...])], session, on: reactor)
    }
  }

  func review(_ session: Session, rounds: Int, on reactor: isolated Reactor) async throws {
    for _ in 0..<rounds {
      let holds = pairs.shuffled(using: &generator).prefix(40)
      _ = try await session.review(Array(holds), on: reactor)
    }
  }

  /// Transactions of a host; now and then one is rolled back.
  func host(
    _ session: Session, rounds: Int, statements: ClosedRange<Int>, on reactor: isolated Reactor
  ) async throws {
    for _ in 0..<rounds {
      let count = Int.random(in: statements, using: &generator)
      try await session.run("begin", on: reactor)
      for _ in 0..<count { try await session.run(statement, on: reactor) }
      try await session.run(draw(8) == 0 ? "rollback" : "commit", on: reactor)
    }
  }

  /// Ends all leases and holds, and sends what is left.
  func finish(_ session: Session, on reactor: isolated Reactor) async throws {
    for _ in 0..<1000 {
      try await session.run(
        "update tacet.inbox set available_at = now(); update tacet.deliveries set due_at = now()", on: reactor)
      let claimed = try await session.claim(on: reactor)
      if claimed.isEmpty { return }
      try await session.record(claimed, on: reactor) { .sent($0) }
    }
    Issue.record("work does not end")
  }

  /// What was recorded as sent by anybody and stands in the ledger as something else.
  func unsent(_ session: Session, on reactor: isolated Reactor) async throws -> [String] {
    let rows = try await session.rows(
      "select l.subject_id, l.user_id from tacet.push_log l where l.decision = 'sent'", on: reactor)
    return sent.map { "(\($0.message),\($0.user))".lowercased() }.filter { !rows.contains($0) }
  }

  private func record(_ batches: [[PushEvent]], _ session: Session, on reactor: isolated Reactor) async throws {
    for batch in batches where !batch.isEmpty {
      let decided = batch.map { event in
        DecidedEvent(
          event: event, outcomes: event.recipients.map { outcome(for: $0.userID) }, deadTargets: [], wokenBy: "test")
      }
      try await session.record(decided, on: reactor)
      for event in decided { note(event) }
    }
  }

  private func note(_ decided: DecidedEvent) {
    recorded += decided.outcomes.count
    for outcome in decided.outcomes where outcome.decision == .sent {
      sent.insert(Pair(message: decided.event.subject.id, user: outcome.userID))
    }
  }

  private func outcome(for user: HostID) -> RecipientOutcome {
    switch draw(10) {
    case 0: .sent(user)
    case 1: .skipped(user)
    case 2...5: .held(user, for: .zero)
    default: .held(user)
    }
  }

  /// One row at a time: two hosts must not be able to deadlock by themselves.
  private var statement: String {
    let message = messages[draw(messages.count)]
    let user = chat.readers[draw(chat.readers.count)]
    let participant = "conversation_id = '\(chat.id)' and user_id = '\(user)'"
    return switch draw(20) {
    case 0..<8:
      "update public.messages set read_by = array_append(read_by, '\(user)') where id = '\(message)'"
    case 8..<13: "update public.conversation_participants set last_seen = now() where \(participant)"
    case 13..<19: "update public.conversation_participants set tacet_left_at = now() where \(participant)"
    default: "delete from public.messages where id = '\(message)' and id < '80000000-0000-0000-0000-000000000000'"
    }
  }

  private var pairs: [RecordedHold] {
    messages.flatMap { message in chat.readers.map { RecordedHold(subject: .message(message), userID: $0) } }
  }

  private func draw(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
}
