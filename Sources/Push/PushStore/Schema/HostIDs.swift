internal import FoundationEssentials
package import Logging
package import Postgres
package import PushRules
package import Reactors

// The types of ids that `db/statements` declare. Each database has chosen its own.
extension PostgresType {
  static let messageID = PostgresType.chosen(0)
  static let conversationID = PostgresType.chosen(1)
  static let userID = PostgresType.chosen(2)
  static let subjectID = PostgresType.chosen(3)
}

extension IDTypes {
  /// What sessions with a database of these ids are configured with: ``PostgresConfiguration/chosenTypes``.
  package var postgresTypes: [PostgresType] { [messages, conversations, users, subjects].map(\.postgresType) }

  /// The types that sessions have found in a database; all are text, which takes any id, until one was open.
  package init(ofSessions configuration: PostgresConfiguration) {
    let types = configuration.chosenTypes
    func type(_ place: Int) -> IDType {
      IDType.allCases.first { types.indices.contains(place) && $0.postgresType == types[place] } ?? .text
    }
    self.init(messages: type(0), conversations: type(1), users: type(2))
  }

  /// Asks a database, and has the connection use the answer: uuids, where it was not migrated.
  @discardableResult
  package static func look(
    over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> IDTypes {
    do throws(PostgresError) {
      _ = try await connection.check(PushDatabase.ownDatabaseCheck, on: reactor)
    } catch  where error.sqlState?.conditionClass == "42" {
      connection.configuration.chosenTypes = IDTypes().postgresTypes
    }
    return IDTypes(ofSessions: connection.configuration)
  }

  /// Asks a database over a session that ends with the answer, and has other sessions of the configuration use it.
  package static func look(
    in configuration: PostgresConfiguration, logger: Logger, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
    defer { connection.close(on: reactor) }
    try await look(over: connection, on: reactor)
  }

  /// The text of a file of `db` with these types in the place of their names there.
  package func written(into text: String) -> String {
    let names = ["message_id": messages, "conversation_id": conversations, "user_id": users, "subject_id": subjects]
    return names.reduce(text) { text, name in
      text.replacing("tacet.\(name.key)", with: name.value.rawValue)
    }
  }
}

extension IDTypes.IDType {
  fileprivate var postgresType: PostgresType {
    switch self {
    case .uuid: .uuid
    case .bigint: .int8
    case .text: .text
    }
  }
}

extension HostID: PostgresScalar {
  /// Appends the binary form of `uuid`, `bigint` or `text`. Refuses an id that the type cannot hold.
  package func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    switch type {
    case .uuid: uuid?.encode(as: type, into: &bytes) ?? false
    case .int8: Int64(text)?.encode(as: type, into: &bytes) ?? false
    default: text.encode(as: type, into: &bytes)
    }
  }

  /// Reads a `uuid`, a `bigint`, or text of at most ``bytesMax`` bytes.
  package init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    switch type {
    case .uuid:
      guard let uuid = UUID(bytes, type: type) else { return nil }
      self.init(uuid)
    case .int8:
      guard let number = Int64(bytes, type: type) else { return nil }
      self.init(text: String(number))
    default:
      guard bytes.count <= Self.bytesMax, let text = String(bytes, type: type) else { return nil }
      self.init(text: text)
    }
  }
}

/// A column of ids as an array parameter.
///
/// The compiler specializes the encoding of arrays only for elements that the module of the driver knows, and records have
/// several columns of ids for each push.
struct IDColumn: PostgresEncodable {
  let ids: [HostID?]

  init(_ ids: [HostID?]) { self.ids = ids }

  func encode(into encoder: inout PostgresParameterEncoder) {
    encoder.appendArray(count: ids.count) { ids[$0].encodeElement(as: $1, into: &$2) }
  }
}

/// The types of ids that an operator asks `tacet migrate` for; nil leaves the choice to what the host's tables have.
package struct IDTypeWishes: Equatable, Sendable {
  package var messages: IDTypes.IDType?
  /// Of conversations and other surfaces.
  package var conversations: IDTypes.IDType?
  package var users: IDTypes.IDType?

  package init(
    messages: IDTypes.IDType? = nil, conversations: IDTypes.IDType? = nil, users: IDTypes.IDType? = nil
  ) {
    self.messages = messages
    self.conversations = conversations
    self.users = users
  }

  /// What migrations are told where all are asked for: the application then has its messages under other names, and what has the
  /// names of the default contract and other ids is something else.
  var setting: String {
    [messages, conversations, users].contains(nil) ? "" : "set tacet.ids = 'told';\n"
  }

  /// These, and those of `known` where nothing is asked for.
  func types(otherwise known: IDTypes) -> IDTypes {
    IDTypes(
      messages: messages ?? known.messages, conversations: conversations ?? known.conversations,
      users: users ?? known.users)
  }
}

extension IDTypes {
  /// The types with which a database is migrated: those that it has, or for a first installation the wishes, then what the
  /// host's tables have, then uuids. An installation that has pushed nothing begins anew where it is to have other types.
  /// - Throws: ``PostgresError``; with ``Migrator/notWired`` when a schema that has pushed has other types than are wished.
  static func choose(
    _ wishes: IDTypeWishes, isInstalled: Bool, over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (types: IDTypes, isAnew: Bool) {
    if isInstalled {
      let types = try await look(over: connection, on: reactor)
      if wishes.types(otherwise: types) == types { return (types, false) }
      guard try await !connection.query(PushStatements.hasPushed, on: reactor).one().decode(0, as: Bool.self) else {
        throw await refused(types, connection, on: reactor)
      }
    }
    let row = try await connection.query(PushStatements.examineHostIDs, on: reactor).one()
    func found(_ column: String) throws(PostgresError) -> IDType {
      try row.decode(column, as: String?.self).flatMap(IDType.init) ?? .uuid
    }
    let types = wishes.types(
      otherwise: IDTypes(
        messages: try found("messages"), conversations: try found("conversations"), users: try found("users")))
    connection.configuration.chosenTypes = types.postgresTypes
    return (types, true)
  }

  private static func refused(
    _ types: IDTypes, _ connection: PostgresConnection, on reactor: isolated Reactor
  ) async -> PostgresError {
    await connection.refusal(
      """
      not wired: the schema was installed for ids of messages, conversations and users that are \
      \(types.messages.rawValue), \(types.conversations.rawValue) and \(types.users.rawValue), and cannot change them, because \
      something was pushed or waits
      """, on: reactor)
  }
}
