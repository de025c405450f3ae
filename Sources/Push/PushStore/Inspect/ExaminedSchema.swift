package import Postgres
package import Reactors

// What the schema is like.
extension DatabaseExamination {
  /// Without these a claim, a record or a look of an operator reads whole tables.
  package static let queueIndexes = [
    "inbox_available_idx", "deliveries_due_idx", "deliveries_waiting_idx", "deliveries_suspect_idx",
    "deliveries_expiry_idx", "releases_queued_idx",
    "deliveries_held_idx", "push_log_subject_idx", "push_log_enqueued_idx", "push_log_user_enqueued_idx",
  ]

  /// What the default host contract looks rows of the host's tables up by.
  /// - Parameter tables: those of the default host that are in use.
  package static func hostIndexes(of tables: Set<String>) -> [String] {
    let indexes = [
      ("messages", "messages_conversation_idx"), ("conversation_participants", "conversation_participants_user_idx"),
      ("push_tokens", "push_tokens_user_idx"), ("push_tokens", "push_tokens_spelling_idx"),
      ("push_tokens", "push_tokens_dropped_idx"),
    ]
    return indexes.filter { tables.contains($0.0) }.map(\.1)
  }

  /// The triggers that run functions of ours.
  package func triggers(on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedTrigger] {
    try await rows(.examineTriggers, on: reactor)
  }

  /// The triggers that the watched kinds need, by kind.
  package func kindTriggers(
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> [(kind: String, trigger: ExaminedTrigger)] {
    try await connection.query(.examineKinds, on: reactor).map { row throws(PostgresError) in
      (kind: try row.decode("kind"), trigger: try row.decoded())
    }
  }

  /// The tables of the host's messages: those with the trigger on inserts.
  package func messageTables(on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedMessageTable] {
    try await rows(.examineMessageTables, on: reactor)
  }

  /// The functions of the host contract that do nothing, because the host has no table for their defaults.
  package func inertFunctions(on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    try await rows(.examineInertFunctions, on: reactor)
  }

  /// Roles in whose sessions ordinary triggers do not fire.
  package func replicationRoles(on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    try await rows(.examineReplicationRoles, on: reactor)
  }

  package func indexes(_ names: [String], on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedIndex] {
    try await rows(.examineIndexes(indexNames: names), on: reactor)
  }

  /// How the server would run a claim; a line for each step. Nothing is claimed.
  package func claimPlan(on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    let claim = StatementCall.claim(
      ClaimLimits(eventsMax: 20, deliveriesMax: 20, lanes: ["doctor": 1], lease: .seconds(30)))
    let explanation = PostgresStatement(
      "explain_claim", "explain \(claim.statement.sql)", claim.statement.parameterTypes)
    return try await rows(StatementCall(explanation, claim.parameters), on: reactor)
  }
}

/// The server, and the role of the session.
package struct ExaminedServer: Equatable, Sendable {
  /// As PostgreSQL numbers itself, e.g. 150006 for 15.6.
  package let version: Int
  /// Whether it only follows another server and takes no writes.
  package let isStandby: Bool
  /// Whether its transactions may not write unless they say so.
  package var isReadOnly: Bool = false
  /// Whether the session is another one than the connection was given: there is a pooler between.
  package let isPooled: Bool
  package let role: String
  /// `session_replication_role` of the session: `origin` by default.
  package let replicationRole: String
}

/// A role that can reach device tokens, though it is neither their owner nor a service.
package struct TokenAccess: Equatable, Sendable, Decodable {
  /// Its name; `public` is everybody.
  package let role: String
  /// What it can do, as `grant` names it, e.g. `select, truncate`.
  package let privileges: String
}

package struct MissingRight: Equatable, Sendable, Decodable {
  /// What it is on: `schema tacet`, `tacet.inbox`, `function tacet.wake`.
  package let object: String
  /// As `grant` names it; `policy` where row-level security hides every row, `policy for update` (`insert`, `delete`) where
  /// no row may be written.
  package let privilege: String
  /// Whether it is in schema `tacet`, whose rights `tacet.grant_service` gives.
  package let isOwn: Bool
}

/// When a trigger fires, as `pg_trigger.tgenabled` says.
package enum TriggerState: String, PostgresScalar, Decodable {
  /// In ordinary sessions.
  case ordinary = "O"
  /// In all sessions.
  case always = "A"
  /// In sessions that replay what another server did, and in no others.
  case replica = "R"
  case disabled = "D"
}

/// A trigger that runs a function of schema `tacet`.
package struct ExaminedTrigger: Equatable, Sendable, Decodable {
  package let table: String
  package let name: String
  /// When it fires; nil when it ought to be there and is not.
  package let state: TriggerState?
  /// The function without its schema.
  package var function: String = ""
  /// What the function is told; empty for nothing.
  package var argument: String = ""
}

/// A table with the trigger on inserted messages.
package struct ExaminedMessageTable: Equatable, Sendable, Decodable {
  package let name: String
  /// Partitions with the same trigger, which fires for inserts that name them.
  package var watchedPartitions: Int = 0
  /// Partitions without it.
  package var otherPartitions: Int = 0
  /// The columns of a primary key in which an id may repeat; nil where it cannot.
  package var repeatingKey: String?
}

/// An index that the statements rely on.
package struct ExaminedIndex: Equatable, Sendable, Decodable {
  package let name: String
  /// Whether it can be used; nil when it is missing.
  package let isUsable: Bool?
}

/// How far this machine's clock is from the database's.
package struct ClockComparison: Equatable, Sendable {
  /// The database's time less this machine's.
  package let difference: Duration
  /// How wrong ``difference`` may be: half of the round trip that it was measured by.
  package let uncertainty: Duration
}
