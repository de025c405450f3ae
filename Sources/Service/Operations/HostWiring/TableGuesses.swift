internal import Postgres
internal import PushRules

extension HostColumn {
  /// Nil for a type that no id has.
  var idType: IDTypes.IDType? { IDTypes.IDType(typeName: type) }
}

/// A table that may hold the messages, with the columns that are read.
struct MessagesGuess {
  let table: HostTable
  let id: HostColumn
  /// Nil where the row says whom a message is for, and where no column looks like it.
  let conversation: HostColumn?
  let recipient: HostColumn?
  /// A user, or a member where that table has a key.
  let sender: HostColumn
  let isSenderSure: Bool
  /// Nil where no column looks like it.
  let body: HostColumn?
  let isBodySure: Bool
  let created: HostColumn?
  /// A number that says what kind of message a row is; only people know which kinds are written by people.
  let kindNumber: HostColumn?
  let isNamed: Bool
  let score: Int

  init?(_ table: HostTable, _ schema: HostSchema) {
    guard table.isTable, let id = table.messageKey, id.idType != nil,
      let sender = Self.sender(of: table, schema, besides: id)
    else { return nil }
    let body = Self.body(of: table, schema)
    let name = Self.weight(table)
    let recipient = Self.recipient(of: table, schema, besides: [id, sender.column])
    let conversation = Self.conversation(of: table, schema, besides: [id, body?.column, sender.column, recipient])
    // One of the three may be where no name and no key says it.
    guard conversation != nil || recipient != nil || body?.isSure == true else { return nil }
    (self.table, self.id, self.sender, isSenderSure) = (table, id, sender.column, sender.isSure)
    (self.recipient, self.conversation, self.body, isBodySure) = (
      recipient, conversation, body?.column, body?.isSure == true
    )
    created = table.column(among: .created, where: \.isTime)
    kindNumber = table.column(among: .kinds, where: \.isInteger)
    isNamed = name > 0
    let keys = [conversation ?? recipient, sender.column].compactMap { $0 }.filter {
      table.reference(of: $0.name) != nil
    }
    // Without a name only the keys and a time tell messages from other texts.
    guard isNamed || keys.count == 2 && created != nil && isBodySure else { return nil }
    let missing = (body == nil ? 4 : 0) + (conversation ?? recipient == nil ? 4 : 0)
    score = name + (created == nil ? 0 : 2) + keys.count - missing - (table.isAside ? 8 : 0)
    guard score > 0 else { return nil }
  }

  /// How much its name says: a word inside it less than one that it ends in.
  static func weight(_ table: HostTable) -> Int {
    let weight = NameKey(table.name).weight(among: .messages)
    return max(weight, NameKey.words(of: table.name).contains("message") ? 4 : 0)
  }

  /// What a table with a key lacks first to hold messages, for people.
  static func lack(_ table: HostTable, _ schema: HostSchema) -> String {
    guard sender(of: table, schema, besides: nil) != nil else { return "a sender (line sender)" }
    return body(of: table, schema) == nil ? "a text (line text)" : "a conversation (line conversation, or recipient)"
  }

  /// Where every message is: a column that may be null, such as a thread's, comes after those that may not. Without a name, what a
  /// table of members refers to as well.
  private static func conversation(of table: HostTable, _ schema: HostSchema, besides taken: [HostColumn?])
    -> HostColumn?
  {
    func fits(_ column: HostColumn) -> Bool { column.idType != nil && !taken.contains(column) }
    let named =
      table.reference(among: .conversations) {
        fits($0) && !$0.isNullable && table.reference(of: $0.name) != nil
      }
      ?? table.reference(among: .conversations) { fits($0) && !$0.isNullable }
      ?? table.reference(among: .conversations, where: fits)
    if let named { return named }
    let keyed = table.columns.filter { column in
      guard fits(column), let target = table.reference(of: column.name).flatMap(schema.table(of:)), target != table,
        !target.isOfUsers
      else { return false }
      return schema.tables.contains { other in
        other != table && other.isMembership(of: target) || other == target && other.users.count == 2
      }
    }
    return keyed.count == 1 ? keyed[0] : nil
  }

  /// Who wrote the message, not who deleted or edited it or gets an answer.
  private static func sender(
    of table: HostTable, _ schema: HostSchema, besides id: HostColumn?
  ) -> (column: HostColumn, isSure: Bool)? {
    func fits(_ column: HostColumn) -> Bool {
      let key = NameKey.plain(column.name)
      return column.idType != nil && column != id && !HostWords.notSenders.all.contains { key.hasPrefix($0) }
    }
    let keyed = table.users.filter(fits)
    if let best = table.reference(among: .senders, where: { keyed.contains($0) }) { return (best, true) }
    if let best = table.reference(among: .senders, where: fits) { return (best, true) }
    let others = keyed.filter { !HostWords.isRecipient($0) }
    return others.count == 1 ? (others[0], true) : others.first.map { ($0, false) }
  }

  private static func recipient(of table: HostTable, _ schema: HostSchema, besides taken: [HostColumn?]) -> HostColumn?
  {
    table.columns.first { column in
      let isOfUsers = column.idType != nil || column.type.hasPrefix("_") || column.isJSON
      guard isOfUsers, !taken.contains(column), HostWords.isRecipient(column) else { return false }
      if table.reference(of: column.name) != nil { return table.users.contains(column) }
      let key = NameKey(column: NameKey(column.name).text).text
      return !schema.tables.contains { NameKey.words(of: $0.name).last == key }
    }
  }

  /// A text by its name; else the only one, or the longest in a sample, which is asked about.
  private static func body(of table: HostTable, _ schema: HostSchema) -> (column: HostColumn, isSure: Bool)? {
    if let named = table.column(among: .bodies, where: { $0.isText || $0.isJSON }) { return (named, true) }
    let texts = table.columns.filter { column in
      let plain = NameKey.plain(column.name)
      return column.isText && column.idType == .text && table.reference(of: column.name) == nil
        && !plain.hasSuffix("id")
        && !HostWords.notBodies.all.contains(where: plain.contains)
    }
    let longest = texts.max { one, other in
      (schema.facts(one, of: table)?.length ?? 0) < (schema.facts(other, of: table)?.length ?? 0)
    }
    return longest.map { ($0, false) }
  }

  /// Whether the sender's column refers to the key of a table of members.
  func isSent(through members: MembersGuess) -> Bool {
    guard let key = members.key, key.idType == sender.idType, table.classColumn(of: sender) == nil else { return false }
    if table.reference(of: sender.name) != nil { return table.refers(sender, to: members.table) }
    let named = NameKey(column: sender.name).text
    return ["participation", "participant", "membership", "member"].contains(named)
      && NameKey(members.table.name).text.hasSuffix(named)
  }
}

/// A table that may say who takes part in which conversation, with the columns that are read.
struct MembersGuess {
  let table: HostTable
  let conversation: HostColumn
  /// Several where a conversation's row names its users.
  let users: [HostColumn]
  let looked: HostColumn?
  let leftAt: HostColumn?
  let unread: HostColumn?
  /// Whether a row is one user's, and not a conversation's.
  let isTable: Bool
  /// Whether its name says what it is, and nothing else.
  let isNamed: Bool
  let score: Int

  /// By which messages may name a member.
  var key: HostColumn? { isTable ? table.key : nil }

  /// The likeliest first; the conversations themselves where no other table says who takes part and they name two users.
  static func all(in schema: HostSchema, for messages: MessagesGuess, _ users: HostTable?) -> [MembersGuess] {
    guard messages.conversation != nil else { return [] }
    let found = schema.tables.compactMap { MembersGuess($0, schema, messages, users) }.filter { $0.score >= 5 }
      .sorted { $0.score > $1.score }
    if !found.isEmpty { return found }
    return MembersGuess(pairIn: schema, messages, users).map { [$0] } ?? []
  }

  private init?(_ table: HostTable, _ schema: HostSchema, _ messages: MessagesGuess, _ users: HostTable?) {
    guard table != messages.table, table != users, let place = messages.conversation,
      let conversation = table.column(like: place, of: messages.table),
      let user = Self.user(of: table, users, besides: conversation)
    else { return nil }
    let weight = NameKey(table.name).weight(among: .members)
    let keys = [conversation, user].filter { table.reference(of: $0.name) != nil }.count
    let isUnique = table.isUnique([conversation.name, user.name])
    guard weight > 0 || keys == 2 && isUnique else { return nil }
    (self.table, self.conversation, self.users) = (table, conversation, [user])
    looked = table.column(among: .looks, where: \.isTime)
    // Where tacet migrate has added it. A left_at is the host's, and says that a member has left.
    leftAt = table.column("tacet_left_at")
    unread = table.column(among: .unread, where: \.isInteger)
    isTable = true
    let isForum = HostWords.forums.all.contains(NameKey(column: conversation.name).text)
    let hasLooks = isForum && weight <= 5 && looked != nil
    isNamed = weight > 0 && !hasLooks && !table.isAside && Self.isPlain(table, schema, messages, users)
    let hasText = table.column(among: .bodies, where: \.isText) != nil
    let isOfMessages = table.columns.contains { $0 != conversation && NameKey(column: $0.name).text == "message" }
    score =
      weight + keys + (isUnique ? 4 : 0) + (looked == nil ? 0 : 3) - (table.isAside ? 8 : 0) - (hasText ? 6 : 0)
      - (isOfMessages ? 6 : 0)
  }

  /// The conversations, whose rows name exactly two users who could take part.
  private init?(pairIn schema: HostSchema, _ messages: MessagesGuess, _ users: HostTable?) {
    guard let column = messages.conversation else { return nil }
    let name = NameKey(column: column.name)
    let named = schema.tables.filter { NameKey($0.name) == name }
    let target = messages.table.reference(of: column.name).map(schema.table(of:)) ?? (named.count == 1 ? named[0] : nil)
    guard let table = target, let id = table.key, id.idType == column.idType else { return nil }
    let pair = table.columns.filter { column in
      guard column.idType != nil, column != id else { return false }
      let key = NameKey(column: column.name).text
      let isUser = table.refers(column, to: users) && !HostWords.notMembers.all.contains(key)
      return isUser || HostWords.pairs.all.contains(key)
    }
    guard pair.count == 2 else { return nil }
    (self.table, conversation, self.users, isTable, isNamed, score) = (table, id, pair, false, true, 9)
    (looked, leftAt, unread) = (nil, nil, nil)
  }

  /// Whether no word of its name says that only some of its rows, or others, are members.
  private static func isPlain(
    _ table: HostTable, _ schema: HostSchema, _ messages: MessagesGuess, _ users: HostTable?
  ) -> Bool {
    var known = Set(HostWords.memberWords.all + HostWords.conversations.all)
    let place = messages.conversation.flatMap { messages.table.reference(of: $0.name) }.flatMap(schema.table(of:))
    for table in [messages.table, users, place].compactMap({ $0 }) { known.formUnion(NameKey.words(of: table.name)) }
    if let column = messages.conversation { known.formUnion(NameKey.words(of: column.name)) }
    let unknown = NameKey.words(of: table.name).filter { word in
      !known.contains(word) && !HostWords.members.all.contains { word.hasSuffix($0) } && word.count > 1
    }
    return unknown.isEmpty
  }

  private static func user(of table: HostTable, _ users: HostTable?, besides conversation: HostColumn) -> HostColumn? {
    func fits(_ column: HostColumn) -> Bool { column.idType != nil && column != conversation }
    let keyed = table.columns.filter { fits($0) && table.refers($0, to: users) }
    return table.reference(among: .memberColumns, where: { keyed.contains($0) })
      ?? (keyed.count == 1 ? keyed[0] : nil)
      ?? (keyed.isEmpty ? table.reference(among: .memberColumns, where: fits) : nil)
  }
}

extension HostTable {
  /// The column that refers to what another table's column refers to; without that key, the one of the same name and type.
  func column(like other: HostColumn, of table: HostTable) -> HostColumn? {
    let there = table.reference(of: other.name)
    let same = references.first { ($0.schema, $0.table, $0.target) == (there?.schema, there?.table, there?.target) }
    let key = NameKey(column: other.name)
    return same.flatMap { column($0.column) }
      ?? columns.first { NameKey(column: $0.name) == key && $0.idType == other.idType }
  }

  /// Columns with foreign keys to tables that are called like users.
  var users: [HostColumn] {
    columns.filter { column in
      column.idType != nil
        && references.contains { key in
          key.column == column.name
            && NameKey(key.table).weight(among: .users)
              >= max(1, NameKey(key.table).weight(among: .members))
        }
    }
  }

  /// Whether each row names a conversation and a user, by foreign keys.
  func isMembership(of place: HostTable) -> Bool {
    references.contains { ($0.schema, $0.table) == (place.schema, place.name) } && !users.isEmpty
  }

  var isOfUsers: Bool { NameKey(name).weight(among: .users) >= 7 }
}
