internal import Postgres
package import PushRules
internal import Reactors

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
  /// host's tables have, then uuids.
  /// - Throws: ``PostgresError``; with ``Migrator/notWired`` when an installed schema has other types than are wished.
  static func choose(
    _ wishes: IDTypeWishes, isInstalled: Bool, over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> IDTypes {
    if isInstalled {
      let types = try await look(over: connection, on: reactor)
      guard wishes.types(otherwise: types) == types else { throw await refused(types, connection, on: reactor) }
      return types
    }
    let row = try await connection.query(PushStatements.examineHostIDs, on: reactor).one()
    func found(_ column: String) throws(PostgresError) -> IDType {
      try row.decode(column, as: String?.self).flatMap(IDType.init) ?? .uuid
    }
    let types = wishes.types(
      otherwise: IDTypes(
        messages: try found("messages"), conversations: try found("conversations"), users: try found("users")))
    connection.configuration.chosenTypes = types.postgresTypes
    return types
  }

  private static func refused(
    _ types: IDTypes, _ connection: PostgresConnection, on reactor: isolated Reactor
  ) async -> PostgresError {
    await connection.refusal(
      """
      not wired: the schema was installed for ids of messages, conversations and users that are \
      \(types.messages.rawValue), \(types.conversations.rawValue) and \(types.users.rawValue), and cannot change them
      """, on: reactor)
  }
}
