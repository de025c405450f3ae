import Foundation
import Postgres
import PushRules
import Reactors

@testable import PushStore

/// A message for one reader, and what may be learnt about it while sessions race for it.
struct HeldScene: Sendable {
  let chat: Chat
  let message: HostID

  /// The message waits in the inbox; its reader is looking.
  static func waiting() async throws -> HeldScene {
    let chat = try await Chat()
    try await chat.register("aa")
    try await chat.see("now()")
    return HeldScene(chat: chat, message: try await chat.send())
  }

  /// The message is held for another minute.
  static func held() async throws -> HeldScene {
    let scene = try await waiting()
    try await scene.chat.record(try await claim(scene.chat.database)) { .held($0) }
    return scene
  }

  /// The hold has ended, and nobody has looked.
  static func due() async throws -> HeldScene {
    let scene = try await held()
    try await scene.chat.database.sql("update tacet.deliveries set due_at = clock_timestamp()")
    return scene
  }

  /// The hold, as its recorder remembers it.
  var hold: RecordedHold { RecordedHold(subject: .message(message), userID: chat.reader) }

  /// What a host's transaction does.
  func sql(_ news: News) -> String {
    let participant = "conversation_id = '\(chat.id)' and user_id = '\(chat.reader)'"
    return switch news {
    case .read: "update public.messages set read_by = array_append(read_by, '\(chat.reader)') where id = '\(message)'"
    case .seen: "update public.conversation_participants set last_seen = clock_timestamp() where \(participant)"
    case .leftScreen:
      "update public.conversation_participants set tacet_left_at = clock_timestamp() where \(participant)"
    case .deleted: "delete from public.messages where id = '\(message)'"
    case .leftGroup: "delete from public.conversation_participants where \(participant)"
    }
  }
}

/// What ends a hold before its time.
enum News: String, CaseIterable, Sendable {
  case read, seen, leftScreen, deleted, leftGroup

  /// Whether what was claimed is one delivery that shows it.
  func isKnown(to claimed: [PushEvent]) -> Bool {
    guard claimed.count == 1, claimed[0].origin == .delivery, let recipient = claimed[0].recipients.first else {
      return false
    }
    return switch self {
    case .read: recipient.situation.hasRead
    case .seen: recipient.situation.sawAfterMessage
    case .leftScreen: recipient.situation.hasLeft
    case .deleted: claimed[0].message == nil
    case .leftGroup: !recipient.isParticipant
    }
  }
}

extension RecipientOutcome {
  static func held(_ user: HostID, for due: Duration = .seconds(60)) -> RecipientOutcome {
    RecipientOutcome(userID: user, decision: .held, reason: "user_viewing", due: due, remaining: .held)
  }

  static func sent(_ user: HostID, to devices: [String] = ["aa"]) -> RecipientOutcome {
    RecipientOutcome(userID: user, decision: .sent, acceptedDevices: devices)
  }

  static func skipped(_ user: HostID) -> RecipientOutcome {
    RecipientOutcome(userID: user, decision: .skipped, reason: "already_read")
  }
}

// The store's statements, in a session that a test leads step by step.
extension Session {
  func claim(lease: Duration = .seconds(60), on reactor: isolated Reactor) async throws -> [PushEvent] {
    var limits = ClaimLimits(eventsMax: 1000, deliveriesMax: 1000, lease: lease)
    limits.rescuesMax = 1_000_000
    let rows = try await connection.query(.claim(limits), on: reactor)
    return try ClaimRow.events(from: rows, columns: ClaimRow.claim, recipientsMax: limits.recipientsMax)
  }

  func record(
    _ events: [PushEvent], on reactor: isolated Reactor, _ outcome: (HostID) -> RecipientOutcome
  ) async throws {
    let decided = events.map {
      DecidedEvent(event: $0, outcomes: $0.recipients.map { outcome($0.userID) }, deadTargets: [], wokenBy: "test")
    }
    try await record(decided, on: reactor)
  }

  /// Records in a transaction that stays open.
  func beginRecord(
    _ events: [PushEvent], on reactor: isolated Reactor, _ outcome: (HostID) -> RecipientOutcome
  ) async throws {
    try await run("begin", on: reactor)
    try await record(events, on: reactor, outcome)
  }

  func record(_ decided: [DecidedEvent], on reactor: isolated Reactor) async throws {
    try await DecidedEvent.record(decided) { call throws(PostgresError) in
      try await connection.query(call, on: reactor)
    }
  }

  /// Has the planner go through what it is given in the order given, as it may on other tables than small ones.
  func planNestedLoops(on reactor: isolated Reactor) async throws {
    try await run("set enable_hashjoin = off; set enable_mergejoin = off; set enable_seqscan = off", on: reactor)
  }

  /// The number of holds that the review has released.
  func review(_ holds: [RecordedHold], on reactor: isolated Reactor) async throws -> Int64 {
    try await connection.query(.reviewHolds(holds), on: reactor).one().decode("released")
  }
}

/// Records the same work in opposite orders in two sessions, while another one, the first, holds back the middle of it.
///
/// Whoever takes its locks in another order than the others meets them half-way: held back by the middle row, both have
/// locked what the other wants next, unless both have begun at the same end.
/// - Parameter change: of the middle row.
func recordInBothOrders(
  _ claimed: [PushEvent], in sessions: [Session], heldBackBy change: String, on reactor: isolated Reactor
) async throws {
  try await sessions[0].run("begin; \(change)", on: reactor)
  let records = [claimed, claimed.reversed()].enumerated().map { number, events in
    Begun.begin(on: reactor) { try await sessions[number + 1].record(events, on: reactor) { .sent($0) } }
  }
  for session in sessions[1...] { try await sessions[0].awaitBlocked(session, on: reactor) }
  try await sessions[0].run("commit", on: reactor)
  for record in records { try await record.value(on: reactor) }
}
