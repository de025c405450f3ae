public import FoundationEssentials
public import Postgres
public import Reactors

/// All that the database knows of one event: what an explanation is made of.
public struct EventRecords: Equatable, Sendable {
  /// The event.
  public var event: EventFacts
  /// Whom it concerns, and whoever was asked about; in the order of their ids.
  public var recipients: [RecipientFacts]
  /// The one recipient who was asked about; nil for all.
  public var userID: UUID?
  /// Whether there are more recipients.
  public var hasMore: Bool
  /// Processes that the histories name, as far as they are known.
  public var instances: [InstanceFacts]

  /// Joins them.
  public init(
    event: EventFacts, userID: UUID? = nil, recipients: [RecipientFacts] = [], hasMore: Bool = false,
    instances: [InstanceFacts] = []
  ) {
    self.event = event
    self.userID = userID
    self.recipients = recipients
    self.hasMore = hasMore
    self.instances = instances
  }
}

// Looks of operators: nothing is locked, claimed or written.
extension PushDatabase {
  /// Recipients of one event that are told about at once. Each is some kilobytes of text.
  public static let recipientsExplainedMax = 1000

  /// What is known of every event whose subject has an id; of a chat message when nothing is.
  /// - Parameters:
  ///   - kind: of the one event to tell about; nil for all that there are.
  ///   - userID: the one recipient to tell about; nil for all.
  ///   - recipientsMax: how many of each event at the most.
  public func records(
    ofSubject id: UUID, kind: String? = nil, userID: UUID? = nil, recipientsMax: Int = recipientsExplainedMax,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> [EventRecords] {
    let found = if let kind { [kind] } else { try await kinds(of: id, on: reactor) }
    var records: [EventRecords] = []
    for kind in found.isEmpty ? [PushSubject.messageKind] : found {
      let subject = PushSubject(id: id, kind: kind)
      records.append(
        try await self.records(of: subject, userID: userID, recipientsMax: recipientsMax, on: reactor))
    }
    return records
  }

  /// Which kinds of events an id is the subject of, chat messages first; none when nothing is known of it.
  public func kinds(of id: UUID, on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    var kinds: [String] = []
    for row in try await pool.query(PushStatements.explainKinds, [id], on: reactor) {
      kinds.append(try row.decode(0))
    }
    return kinds
  }

  /// What is known of an event, and of its recipients.
  ///
  /// Several looks, each at a moment of its own.
  /// - Parameters:
  ///   - userID: the one recipient to tell about; nil for all.
  ///   - recipientsMax: how many at the most.
  public func records(
    of subject: PushSubject, userID: UUID? = nil, recipientsMax: Int = recipientsExplainedMax,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> EventRecords {
    let row = try await pool.query(PushStatements.explainEvent, [subject.id, subject.kind], on: reactor).one()
    var records = EventRecords(event: try row.decode(0, as: ExplainedDocument<EventFacts>.self).content, userID: userID)
    records.recipients = try await recipients(
      of: subject, from: userID ?? .lowest, to: userID ?? .highest, max: recipientsMax + 1, on: reactor)
    records.hasMore = records.recipients.count > recipientsMax
    if records.hasMore { records.recipients.removeLast() }
    try await addDevices(to: &records, on: reactor)
    try await addInstances(to: &records, on: reactor)
    return records
  }

  private func recipients(
    of subject: PushSubject, from first: UUID, to last: UUID, max: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [RecipientFacts] {
    let parameters: [any PostgresEncodable] = [subject.id, subject.kind, first, last, max]
    return try await documents(PushStatements.explainRecipients, parameters, on: reactor)
  }

  private func addDevices(to records: inout EventRecords, on reactor: isolated Reactor) async throws(PostgresError) {
    let devices = try await devices(of: records.recipients.map(\.userID), on: reactor)
    for (index, devices) in devices.enumerated() { records.recipients[index].devices = devices }
  }

  /// A host with tables of its own has no dropped tokens to show.
  private func devices(
    of users: [UUID], on reactor: isolated Reactor
  ) async throws(PostgresError) -> [[DeviceFacts]] {
    do throws(PostgresError) {
      return try await documents(PushStatements.explainDevices, [users], on: reactor)
    } catch {
      guard error.sqlState == .undefinedTable || error.sqlState == .undefinedColumn else { throw error }
      return try await documents(PushStatements.explainDevicesInUse, [users], on: reactor)
    }
  }

  private func addInstances(to records: inout EventRecords, on reactor: isolated Reactor) async throws(PostgresError) {
    let ids = Set(records.recipients.flatMap { $0.ledger?.history ?? [] }.map(\.instance))
    records.instances = try await documents(PushStatements.explainInstances, [ids.sorted()], on: reactor)
  }

  private func documents<Document: Decodable>(
    _ statement: PostgresStatement, _ parameters: [any PostgresEncodable], on reactor: isolated Reactor
  ) async throws(PostgresError) -> [Document] {
    var documents: [Document] = []
    for row in try await pool.query(statement, parameters, on: reactor) {
      documents.append(try row.decode(0, as: ExplainedDocument<Document>.self).content)
    }
    return documents
  }
}

/// A column of JSON, read as a type.
private struct ExplainedDocument<Content: Decodable>: PostgresDecodable {
  let content: Content

  init?(_ field: PostgresField) {
    guard let text = String(field), let content = try? JSONDecoder().decode(Content.self, from: Data(text.utf8)) else {
      return nil
    }
    self.content = content
  }
}

extension UUID {
  fileprivate static let lowest = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  fileprivate static let highest = UUID(
    uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
}
