/// A table of conversations of two, which names both users in its row.
package struct PairGuess: Equatable, Sendable {
  let table: HostTable
  let id: HostColumn
  /// Two, in the order of the table.
  let users: [HostColumn]

  /// Nil for a table that does not name exactly two users who could take part.
  init?(_ table: HostTable, of messages: MessagesGuess, users: HostTable?) {
    guard let id = table.key, IDType(id) == IDType(messages.conversation) else { return nil }
    let named = table.columns.filter { column in
      guard IDType(column) != nil, column.name != id.name else { return false }
      let key = NameKey(column: column.name).text
      let reference = table.reference(of: column.name)
      let isOfUsers = reference != nil && reference?.schema == users?.schema && reference?.table == users?.name
      return isOfUsers && !HostWords.notParticipants.contains(key) || HostWords.pairs.contains(key)
    }
    guard named.count == 2 else { return nil }
    self.table = table
    self.id = id
    self.users = named
  }

  /// The table that the messages' column refers to, by its foreign key or its name.
  static func find(in schema: HostSchema, for messages: MessagesGuess, users: HostTable?) -> PairGuess? {
    let column = messages.conversation
    if let key = messages.table.reference(of: column.name) {
      return schema.table(of: key).flatMap { PairGuess($0, of: messages, users: users) }
    }
    let name = NameKey(column: column.name)
    let found = schema.tables.filter { NameKey($0.name) == name }
    return found.count == 1 ? PairGuess(found[0], of: messages, users: users) : nil
  }
}
