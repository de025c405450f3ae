internal import Postgres

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

/// A table that may hold device tokens of APNs, with the columns that are read.
package struct DevicesGuess: Equatable, Sendable {
  let table: HostTable
  let user: HostColumn
  let token: HostColumn
  let platform: HostColumn?
  let app: HostColumn?
  let environment: HostColumn?
  let registered: HostColumn?
  /// Set when a token is dead; else the row goes, or the token alone where the table is no table of devices.
  let invalidated: HostColumn?
  let keepsRows: Bool
  let conditions: [RowCondition]
  let score: Int

  /// As an answer names it.
  var fullName: String { "\(table.fullName).\(token.name)" }

  /// Whether it is taken without asking.
  var isSure: Bool { score >= 9 }

  /// Nil for a table without a token and a user, or whose tokens are probably others.
  init?(_ table: HostTable, users: UsersGuess?, userType: IDType) {
    let words = NameKey.plain(table.name)
    let isNamed = HostWords.devices.contains { words.contains($0) }
    let clear = table.column(among: HostWords.tokens, where: \.isText)
    let vague = table.column(among: HostWords.vagueTokens) {
      $0.isText && (isNamed || NameKey.plain($0.name) != "token")
    }
    guard let token = clear ?? vague else { return nil }
    self.init(
      table, users: users, userType: userType, token: token,
      score: (clear == nil ? 4 : 9) + (isNamed ? 6 : 0) - (table.isAside ? 8 : 0), isNamed: isNamed)
  }

  /// A column that an operator has named.
  init?(chosen token: HostColumn, of table: HostTable, users: UsersGuess?, userType: IDType) {
    let isNamed = HostWords.devices.contains { NameKey.plain(table.name).contains($0) }
    self.init(table, users: users, userType: userType, token: token, score: 9, isNamed: isNamed)
  }

  private init?(
    _ table: HostTable, users: UsersGuess?, userType: IDType, token: HostColumn, score: Int, isNamed: Bool
  ) {
    let isOfUsers = users?.table == table
    guard
      let user = isOfUsers
        ? users?.id
        : table.reference(among: HostWords.members, where: { IDType($0) == userType && $0.name != token.name }),
      score > 0
    else { return nil }
    self.table = table
    self.user = user
    self.token = token
    self.score = score
    platform = table.column(among: HostWords.platforms, where: \.isText)
    app = table.column(among: HostWords.apps, where: \.isText)
    environment =
      table.column(among: HostWords.environments, where: \.isText)
      ?? table.column(among: HostWords.sandboxes, where: \.isFlag)
    registered = table.column(among: HostWords.registered, where: \.isTime)
    invalidated = table.column(among: HostWords.invalid) { $0.type.hasPrefix("timestamp") }
    // Where the token is a key, a row is a device whatever the table is called, and two cannot lose theirs alone.
    keepsRows = isOfUsers || !isNamed && !table.isUnique([token.name])
    conditions = RowCondition.unset(invalidated) + RowCondition.flags(HostWords.existing, in: table)
  }
}

/// What a row must be like to count: a deleted message, a private note or a muted member does not.
struct RowCondition: Equatable, Sendable {
  enum Test: Equatable, Sendable {
    /// A condition in SQL around the column, and its words.
    case shows(before: String, after: String, words: String)
    case isKnown
    case isOneOf([Int])
    /// The class of a polymorphic reference, as Rails and Laravel write it.
    case isClass(String)
  }

  let column: HostColumn
  let test: Test
  /// Whether a row that does not count still is one of a member, who only wants no push.
  var isWish = false

  /// - Parameter row: the alias of the table.
  func sql(_ row: String) -> String {
    let value = "\(row).\(column.name.quotedIdentifier)"
    switch test {
    case .shows(let before, let after, _): return "\(before)\(value)\(after)"
    case .isKnown: return "\(value) is not null"
    case .isOneOf(let numbers): return "\(value) in (\(numbers.map(String.init).joined(separator: ", ")))"
    case .isClass(let name): return "\(value) like \("%\(name)".quotedLiteral)"
    }
  }

  /// For the summary.
  var words: String {
    switch test {
    case .shows(_, _, let words): "\(column.name) \(words)"
    case .isKnown: "\(column.name) is known"
    case .isOneOf(let numbers): "\(column.name) is \(numbers.map(String.init).joined(separator: " or "))"
    case .isClass(let name): "\(column.name) is \(name)"
    }
  }

  /// Of rows that the host does not hide.
  static func shown(_ place: HidingColumn.Place, in table: HostTable, besides taken: [HostColumn?] = [])
    -> [RowCondition]
  {
    table.hiding.compactMap { hiding in
      guard hiding.place == place, let before = hiding.before, let after = hiding.after,
        let column = table.column(hiding.name), !taken.contains(column)
      else { return nil }
      return RowCondition(
        column: column, test: .shows(before: before, after: after, words: hiding.words ?? ""),
        isWish: hiding.isWish ?? false)
    }
  }

  /// A time that is not set.
  static func unset(_ column: HostColumn?) -> [RowCondition] {
    column.map { [RowCondition(column: $0, test: .shows(before: "", after: " is null", words: "is not set"))] } ?? []
  }

  /// Columns that must not be null, where they may be.
  static func known(_ columns: HostColumn...) -> [RowCondition] {
    columns.filter(\.isNullable).map { RowCondition(column: $0, test: .isKnown) }
  }

  /// Flags that must not be false.
  static func flags(_ words: [String], in table: HostTable) -> [RowCondition] {
    table.columns.filter { $0.isFlag && words.contains(NameKey.plain($0.name)) }.map {
      RowCondition(column: $0, test: .shows(before: "", after: " is not false", words: "is true"))
    }
  }
}
