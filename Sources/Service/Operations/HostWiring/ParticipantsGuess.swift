/// A table that may say who takes part in which conversation, with the columns that are read.
package struct ParticipantsGuess: Equatable, Sendable {
  let table: HostTable
  let conversation: HostColumn
  let user: HostColumn
  /// When the user last looked at the conversation.
  let looked: HostColumn?
  /// How far the user has read: a time as in the messages, or the id of a message where ids grow.
  let read: HostColumn?
  let isReadByID: Bool
  /// When the user's client left it, where the table has both columns of presence.
  let leftAt: HostColumn?
  /// Of rows that count.
  let conditions: [RowCondition]
  let score: Int

  /// Nil for a table that lacks one of the two columns, or is not called like one.
  init?(_ table: HostTable, of messages: MessagesGuess, users: HostTable?) {
    let name = NameKey(table.name).weight(among: HostWords.participants)
    guard name > 0, table != messages.table, table != users,
      let guess = Self(chosen: table, of: messages, users: users)
    else { return nil }
    self = guess
  }

  /// A table that an operator has named.
  init?(chosen table: HostTable, of messages: MessagesGuess, users: HostTable?) {
    guard let conversation = Self.conversation(of: table, like: messages),
      let user = Self.user(of: table, in: users, besides: conversation)
    else { return nil }
    self.table = table
    self.conversation = conversation
    self.user = user
    looked = table.column(among: HostWords.looks, where: \.isTime)
    // Where tacet migrate has added it. A left_at is the host's, and says that a member has left.
    leftAt = table.column("tacet_left_at")
    let position = Self.position(of: table, in: messages)
    (read, isReadByID) = (position?.column, position?.isID ?? false)
    conditions =
      RowCondition.shown(.member, in: table, besides: [conversation, user, looked, leftAt])
      + (table.classColumn(of: user).map { [RowCondition(column: $0, test: .isClass(users?.className ?? "User"))] }
        ?? [])
    score = Self.score(table, conversation, user, reads: read != nil)
  }

  /// The column that refers to what the messages' column refers to.
  private static func conversation(of table: HostTable, like messages: MessagesGuess) -> HostColumn? {
    let wanted = messages.conversation
    if let there = messages.table.reference(of: wanted.name) {
      let same = table.references.first {
        ($0.schema, $0.table, $0.target) == (there.schema, there.table, there.target)
      }
      if let same { return table.column(same.column) }
    }
    let key = NameKey(column: wanted.name)
    return table.columns.first { NameKey(column: $0.name) == key && IDType($0) == IDType(wanted) }
  }

  private static func user(of table: HostTable, in users: HostTable?, besides conversation: HostColumn) -> HostColumn? {
    let keys = table.references.filter { $0.schema == users?.schema && $0.table == users?.name }.map(\.column)
    func fits(_ column: HostColumn) -> Bool { IDType(column) != nil && column.name != conversation.name }
    return table.reference(among: HostWords.members) { fits($0) && (keys.isEmpty || keys.contains($0.name)) }
      ?? table.reference(among: HostWords.members, where: fits)
  }

  private static func position(of table: HostTable, in messages: MessagesGuess) -> (column: HostColumn, isID: Bool)? {
    func isComparable(_ column: HostColumn) -> Bool { column.isTime && column.type == messages.created?.type }
    if let time = table.column(among: HostWords.reads, where: isComparable) { return (time, false) }
    let id = table.reference(among: HostWords.readMessages, where: \.isInteger)
    if let id, IDType(messages.id) == .bigint { return (id, true) }
    return table.column(among: HostWords.looks, where: isComparable).map { ($0, false) }
  }

  private static func score(_ table: HostTable, _ conversation: HostColumn, _ user: HostColumn, reads: Bool) -> Int {
    let keys = [conversation, user].filter { table.reference(of: $0.name) != nil }.count
    let hasText = table.column(among: HostWords.bodies, where: \.isText) != nil
    let isOfMessages = table.columns.contains { NameKey(column: $0.name).text == "message" }
    return NameKey(table.name).weight(among: HostWords.participants) + keys
      + (table.isUnique([conversation.name, user.name]) ? 4 : 0) + (reads ? 3 : 0)
      - (table.isAside ? 8 : 0) - (hasText ? 6 : 0) - (isOfMessages ? 6 : 0)
  }
}

/// The table of the users, with the columns that are read.
package struct UsersGuess: Equatable, Sendable {
  let table: HostTable
  let id: HostColumn
  /// At most two; the first that is not empty is the name.
  let names: [HostColumn]
  let zone: HostColumn?
  /// Of users who still have an account.
  let conditions: [RowCondition]
  let score: Int

  /// Nil for a table without a key, or with one of another type.
  init?(_ table: HostTable, idType: IDType?) {
    guard let id = table.key, let type = IDType(id), idType == nil || idType == type else { return nil }
    self.table = table
    self.id = id
    names = Array(
      HostWords.names.compactMap { word in table.column(among: [word], where: \.isText) }.prefix(2))
    zone = table.column(among: HostWords.zones, where: \.isText)
    conditions = RowCondition.shown(.profile, in: table, besides: [id, zone] + names)
    score = NameKey(table.name).weight(among: HostWords.users) + (names.isEmpty ? 0 : 2) - (table.isAside ? 8 : 0)
  }

  /// The table that a column refers to, by its foreign key or its name; else the one that is called like users.
  static func find(in schema: HostSchema, for column: HostColumn, of table: HostTable) -> UsersGuess? {
    if let key = table.reference(of: column.name), let target = schema.table(of: key) {
      return UsersGuess(target, idType: IDType(column))
    }
    let key = NameKey(column: column.name)
    let candidates = schema.tables.compactMap { UsersGuess($0, idType: IDType(column)) }
      .filter { NameKey($0.table.name).weight(among: HostWords.users) > 0 }
    let named = candidates.first { NameKey($0.table.name) == key && !$0.table.isAside }
    return named ?? candidates.max { ($0.score, $1.table.fullName) < ($1.score, $0.table.fullName) }
  }
}
