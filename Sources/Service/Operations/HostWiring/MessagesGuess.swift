/// A table that may hold the messages, with the columns that are read.
package struct MessagesGuess: Equatable, Sendable {
  let table: HostTable
  let id: HostColumn
  let conversation: HostColumn
  /// The sender: a user, or a participant where that table has a key.
  let sender: HostColumn
  let body: HostColumn
  let created: HostColumn?
  /// Of messages that are pushed.
  var conditions: [RowCondition]
  /// A number that says what kind of message a row is; only people know which kinds are written by people.
  let kindNumber: HostColumn?
  let score: Int

  /// Nil for a table that lacks one of the four columns, or is not called like one.
  init?(_ table: HostTable) {
    let name = NameKey(table.name).weight(among: HostWords.messages)
    guard let guess = Self(chosen: table), name > 0 else { return nil }
    self = guess
  }

  /// A table that an operator has named.
  init?(chosen table: HostTable) {
    guard let id = table.key, IDType(id) != nil,
      let body = table.column(among: HostWords.bodies, where: { $0.isText || $0.isJSON }),
      let conversation = Self.conversation(of: table, besides: [id.name, body.name]),
      let sender = Self.sender(of: table, besides: [id.name, body.name, conversation.name])
    else { return nil }
    self.table = table
    self.id = id
    self.body = body
    self.conversation = conversation
    self.sender = sender
    created = table.column(among: HostWords.created, where: \.isTime)
    kindNumber = table.column(among: HostWords.kinds, where: \.isInteger)
    conditions = RowCondition.shown(.message, in: table, besides: [id, body, conversation, sender, created])
    let name = NameKey(table.name).weight(among: HostWords.messages)
    let keys = [conversation, sender].filter { table.reference(of: $0.name) != nil }.count
    score = name + (created == nil ? 0 : 2) + keys - (table.isAside ? 8 : 0)
  }

  /// Where every message is: a column that may be null, such as a thread's, comes after those that may not.
  private static func conversation(of table: HostTable, besides taken: [String]) -> HostColumn? {
    func fits(_ column: HostColumn) -> Bool { IDType(column) != nil && !taken.contains(column.name) }
    return table.reference(among: HostWords.conversations) { fits($0) && !$0.isNullable }
      ?? table.reference(among: HostWords.conversations, where: fits)
  }

  /// Who wrote the message, not who deleted or edited it or gets an answer.
  private static func sender(of table: HostTable, besides taken: [String]) -> HostColumn? {
    table.reference(among: HostWords.senders) { column in
      let key = NameKey.plain(column.name)
      return IDType(column) != nil && !taken.contains(column.name)
        && !HostWords.notSenders.contains { key.hasPrefix($0) }
    }
  }

  /// The class that a polymorphic sender must have, beside the sender's column.
  var senderClass: HostColumn? { table.classColumn(of: sender) }
}

extension HostTable {
  /// The column that says of which class a polymorphic reference is: `sender_type` beside `sender_id`.
  func classColumn(of column: HostColumn) -> HostColumn? {
    let key = NameKey.plain(column.name)
    guard key.hasSuffix("id") else { return nil }
    return columns.first { $0.isText && NameKey.plain($0.name) == key.dropLast(2) + "type" }
  }

  /// The class of its rows in Rails and Laravel: `User` of `users`.
  var className: String { NameKey.words(of: name).last.map { $0.prefix(1).uppercased() + $0.dropFirst() } ?? name }
}
