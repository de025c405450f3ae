public import Postgres
public import Reactors

// What the schema is like.
extension DatabaseExamination {
  /// Without these a claim, a record or a look of an operator reads whole tables.
  public static let queueIndexes = [
    "inbox_fresh_idx", "inbox_claimed_idx", "deliveries_due_idx", "deliveries_waiting_idx", "deliveries_suspect_idx",
    "deliveries_expiry_idx", "releases_queued_idx",
    "deliveries_held_idx", "push_log_subject_idx", "push_log_enqueued_idx", "push_log_user_enqueued_idx",
  ]

  /// What the default host contract looks rows of the host's tables up by.
  /// - Parameter tables: those of the default host that are in use.
  public static func hostIndexes(of tables: Set<String>) -> [String] {
    let indexes = [
      ("messages", "messages_conversation_idx"), ("conversation_participants", "conversation_participants_user_idx"),
      ("push_tokens", "push_tokens_user_idx"), ("push_tokens", "push_tokens_spelling_idx"),
      ("push_tokens", "push_tokens_dropped_idx"),
    ]
    return indexes.filter { tables.contains($0.0) }.map(\.1)
  }

  /// The triggers that run functions of ours.
  public func triggers(on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedTrigger] {
    try await rows(.examineTriggers, on: reactor) { row throws(PostgresError) in
      ExaminedTrigger(
        table: try row.decode("table_name"), name: try row.decode("name"),
        state: TriggerState(rawValue: try row.decode("state")), function: try row.decode("function"),
        argument: try row.decode("argument"))
    }
  }

  /// The triggers that the watched kinds need, by kind.
  public func kindTriggers(
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> [(kind: String, trigger: ExaminedTrigger)] {
    try await rows(.examineKinds, on: reactor) { row throws(PostgresError) in
      let state = try row.decode("state", as: String?.self)
      let trigger = ExaminedTrigger(
        table: try row.decode("table_name"), name: try row.decode("name"),
        state: state.flatMap { TriggerState(rawValue: $0) })
      return (try row.decode("kind", as: String.self), trigger)
    }
  }

  /// Roles in whose sessions ordinary triggers do not fire.
  public func replicationRoles(on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    try await rows(.examineReplicationRoles, on: reactor) { row throws(PostgresError) in
      try row.decode(0)
    }
  }

  /// The indexes of these names.
  public func indexes(_ names: [String], on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedIndex] {
    try await rows(.examineIndexes(indexNames: names), on: reactor) { row throws(PostgresError) in
      ExaminedIndex(name: try row.decode("name"), isUsable: try row.decode("is_usable"))
    }
  }

  /// How the server would run a claim; a line for each step. Nothing is claimed.
  public func claimPlan(on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    let limits = ClaimLimits(
      eventsMax: 20, deliveriesMax: 20, lanes: [.init("doctor", deliveriesMax: 1)], lease: .seconds(30))
    let claim = StatementCall.claim(limits)
    let explanation = PostgresStatement(
      "explain_claim", "explain \(claim.statement.sql)", claim.statement.parameterTypes)
    return try await rows(StatementCall(explanation, claim.parameters), on: reactor) { row throws(PostgresError) in
      try row.decode(0)
    }
  }
}
