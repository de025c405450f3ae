internal import Postgres
package import PushRules
package import Reactors

/// All that the database knows of one event: what an explanation is made of.
package struct EventRecords: Equatable, Sendable {
  package var event: EventFacts
  /// The one recipient who was asked about; nil for all.
  package var userID: HostID?
  /// The recipients, and the user who was asked about; in the order of their ids.
  package var recipients: [RecipientFacts] = []
  package var hasMore = false
  /// Processes that the histories name, as far as they are known.
  package var instances: [InstanceFacts] = []
}

// Looks of operators: nothing is locked, claimed or written.
extension PushDatabase {
  /// Recipients of one event that are told about at once. Each is some kilobytes of text.
  package static let recipientsExplainedMax = 1000

  /// What is known of every event whose subject has an id; of a chat message when nothing is. One ``OperatorLook``.
  /// - Parameters:
  ///   - kind: of the one event to tell about; nil for all that there are.
  ///   - userID: the one recipient to tell about; nil for all.
  ///   - recipientsMax: how many of each event at the most.
  ///   - entriesMax: entries of histories, of all events together, after which each event has no more than one recipient.
  /// - Throws: ``PostgresError``.
  package func records(
    ofSubject id: HostID, kind: String? = nil, userID: HostID? = nil, recipientsMax: Int = recipientsExplainedMax,
    entriesMax: Int = .max, on reactor: isolated Reactor
  ) async throws -> [EventRecords] {
    try await look(on: reactor) {
      try await $0.records(
        ofSubject: id, kind: kind, userID: userID, recipientsMax: recipientsMax, entriesMax: entriesMax, on: reactor)
    }
  }

  /// What is known of one user in the newest events of which the ledger has the user, the newest first.
  /// - Throws: ``PostgresError``.
  package func records(
    ofUser userID: HostID, since age: Duration, eventsMax: Int, on reactor: isolated Reactor
  ) async throws -> [EventRecords] {
    try await look(on: reactor) { look throws(PostgresError) in
      let call = StatementCall.explainUser(
        userID: userID, sinceMicroseconds: age.wholeMicroseconds, eventsMax: eventsMax)
      var records: [EventRecords] = []
      for subject: PushSubject in try await look.query(call, on: reactor).decoded() {
        records.append(
          try await look.records(of: subject, userID: userID, recipientsMax: 1, entriesMax: .max, on: reactor))
      }
      return records
    }
  }

  /// Which kinds of events an id is the subject of, chat messages first; empty for an unknown id.
  /// - Throws: ``PostgresError``.
  package func kinds(of id: HostID, on reactor: isolated Reactor) async throws -> [String] {
    try await look(on: reactor) { try await $0.kinds(of: id, on: reactor) }
  }
}

extension OperatorLook {
  fileprivate func records(
    ofSubject id: HostID, kind: String?, userID: HostID?, recipientsMax: Int, entriesMax: Int,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> [EventRecords] {
    let found = if let kind { [kind] } else { try await kinds(of: id, on: reactor) }
    var records: [EventRecords] = []
    var entriesLeft = entriesMax
    for kind in found.isEmpty ? [MessagePush.name] : found {
      let event = try await self.records(
        of: PushSubject(id: id, kind: kind), userID: userID, recipientsMax: recipientsMax,
        entriesMax: max(1, entriesLeft), on: reactor)
      entriesLeft -= event.recipients.reduce(0) { $0 + ($1.ledger?.history.count ?? 0) }
      records.append(event)
    }
    return records
  }

  fileprivate func kinds(of id: HostID, on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    var host = HostAnswers()
    return try await query(
      .explainKinds(subjectID: id), alone: PushStatements.explainKindsAlone, host: &host, on: reactor
    ).decoded()
  }

  /// What is known of an event, and of its recipients.
  ///
  /// Several looks, each at a different moment. Where the host's functions fail for the event, only Tacet's own tables are
  /// read, and ``EventFacts/hostFailure`` is set.
  /// - Parameters:
  ///   - userID: the one recipient to tell about; nil for all.
  ///   - recipientsMax: how many at the most.
  ///   - entriesMax: entries of their histories after which no further recipient is told about; at least 1.
  fileprivate func records(
    of subject: PushSubject, userID: HostID?, recipientsMax: Int, entriesMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> EventRecords {
    var host = HostAnswers()
    let row = try await query(
      .explainEvent(subjectID: subject.id, kind: subject.kind), alone: PushStatements.explainEventAlone, host: &host,
      on: reactor
    ).one()
    var records = EventRecords(event: try row.decode(0, as: ExplainedDocument<EventFacts>.self).content, userID: userID)
    let rows = try await query(
      .explainRecipients(
        subjectID: subject.id, kind: subject.kind, userID: userID,
        usersMax: recipientsMax + 1, entriesMax: entriesMax),
      alone: PushStatements.explainRecipientsAlone, host: &host, on: reactor)
    records.recipients = Array(try documents(rows).prefix(recipientsMax))
    if let row = rows.first {
      records.hasMore = try row.decode("people_count", as: Int.self) > records.recipients.count
    }
    try await addDevices(to: &records, host: &host, on: reactor)
    try await addInstances(to: &records, on: reactor)
    try await addUnread(to: &records, on: reactor)
    records.event.hostFailure = host.failure
    return records
  }

  private func addDevices(
    to records: inout EventRecords, host: inout HostAnswers, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    let users = records.recipients.map(\.userID)
    do throws(PostgresError) {
      try add(try await query(.explainDevices(userIDs: users), on: reactor), to: &records)
    } catch {
      try host.recordFailure(error)
    }
    do throws(PostgresError) {
      try add(try await query(.explainDroppedDevices(userIDs: users), on: reactor), to: &records)
    } catch {
      // A host with other tables, or one that does not let this role read them, has no dropped tokens to show.
      guard error.blamesStatement else { throw error }
    }
  }

  /// One row for each recipient.
  private func add(_ rows: PostgresRows, to records: inout EventRecords) throws(PostgresError) {
    let devices: [[DeviceFacts]] = try documents(rows)
    for (index, devices) in devices.enumerated() { records.recipients[index].devices += devices }
  }

  private func addInstances(to records: inout EventRecords, on reactor: isolated Reactor) async throws(PostgresError) {
    let ids = Set(records.recipients.flatMap { $0.ledger?.history ?? [] }.map(\.instance))
    records.instances = try documents(
      try await query(.explainInstances(instanceIDs: ids.sorted()), on: reactor))
  }

  private func addUnread(to records: inout EventRecords, on reactor: isolated Reactor) async throws(PostgresError) {
    let ids = records.recipients.compactMap(\.ledger?.id)
    guard !ids.isEmpty else { return }
    let facts: [UnreadFacts] = try documents(try await query(.explainUnread(logIDs: ids), on: reactor))
    let known = Dictionary(facts.map { ($0.logID, $0) }) { first, _ in first }
    for index in records.recipients.indices {
      records.recipients[index].unread = records.recipients[index].ledger.flatMap { known[$0.id] }
    }
  }

  /// Asks the host as well, as long as it answers.
  /// - Parameter alone: the statement with the same parameters that does not ask the host.
  private func query(
    _ call: StatementCall, alone: PostgresStatement, host: inout HostAnswers, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    if host.failure == nil {
      do throws(PostgresError) {
        return try await query(call, on: reactor)
      } catch {
        try host.recordFailure(error)
      }
    }
    return try await query(StatementCall(alone, call.parameters), on: reactor)
  }

  private func documents<Document: Decodable>(_ rows: PostgresRows) throws(PostgresError) -> [Document] {
    try rows.map { row throws(PostgresError) in try row.decode(0, as: ExplainedDocument<Document>.self).content }
  }
}

/// Whether the host's functions still answer for an event. One that failed is not asked again: it may have taken long.
private struct HostAnswers {
  /// PostgreSQL's condition, or the kind of failure; nil while they answer. Its text may quote the host's data.
  private(set) var failure: String?

  /// Throws what is no fault of the statement.
  mutating func recordFailure(_ error: PostgresError) throws(PostgresError) {
    guard error.blamesStatement else { throw error }
    failure = failure ?? error.sqlState.map { "SQLSTATE \($0)" } ?? error.code.rawValue
  }
}
