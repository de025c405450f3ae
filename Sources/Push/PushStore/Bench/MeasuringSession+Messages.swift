public import Postgres
public import PushKinds
public import Reactors

/// The messages that are measured.
public struct MessageSample: Sendable {
  /// Where they were found.
  public enum Source: Equatable, Sendable {
    /// In the ledger: messages that were pushed.
    case ledger
    /// In a table of the host, by `created_at`.
    case newest(table: String)
    /// In a table of the host, by their ids in descending order, which random ids shuffle.
    case highestIDs(table: String)
    /// The ledger has none, and no table has the trigger on messages.
    case nowhere
  }

  /// The ids, the newest first; empty where there is none, or none that the role sees.
  public let ids: [HostID]
  /// Where they were found.
  public let source: Source

  /// Notes a sample.
  public init(ids: [HostID], source: Source) {
    self.ids = ids
    self.source = source
  }
}

extension MeasuringSession {
  /// Rows of the ledger that are looked at for each message that is wanted: conversations have some members.
  private static let rowsPerMessage = 10

  /// The newest messages: those of the ledger if it has as many, otherwise those of the host's table.
  public func newestMessages(
    max: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> MessageSample {
    let recorded = MessageSample(
      ids: try await ids(.recordedMessages(messagesMax: max, rowsMax: max * Self.rowsPerMessage), on: reactor),
      source: .ledger)
    guard recorded.ids.count < max,
      let table = try await connection.query(.examineMessageTables, on: reactor).first
    else { return recorded.ids.isEmpty ? MessageSample(ids: [], source: .nowhere) : recorded }
    let stored = try await newestMessages(of: try table.decode("table_name"), max: max, on: reactor)
    return stored.ids.count > recorded.ids.count || recorded.ids.isEmpty ? stored : recorded
  }

  /// - Parameter table: as the catalog quotes it.
  private func newestMessages(
    of table: String, max: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> MessageSample {
    let order = try await connection.query(.messageOrder(tableName: table), on: reactor).first
    let isDated = try order?.decode("is_dated", as: Bool?.self) ?? false
    let newest = PostgresStatement(
      "newest_messages", "select m.id::text from \(table) m order by m.\(isDated ? "created_at" : "id") desc limit $1",
      [.int8])
    return MessageSample(
      ids: try await ids(StatementCall(newest, [max]), on: reactor),
      source: isDated ? .newest(table: table) : .highestIDs(table: table))
  }

  private func ids(_ call: StatementCall, on reactor: isolated Reactor) async throws(PostgresError) -> [HostID] {
    var ids: [HostID] = []
    for row in try await connection.query(call, on: reactor) {
      ids.append(HostID(text: try row.decode(0)))
    }
    return ids
  }
}
