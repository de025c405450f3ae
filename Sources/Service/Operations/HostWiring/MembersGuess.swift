internal import Postgres
internal import PushRules

/// A table that may say who takes part in which conversation, with the columns that are read.
struct MembersGuess {
  let table: HostTable
  let conversation: HostColumn
  /// Several where a conversation's row names its users.
  let users: [HostColumn]
  /// Whether a row is one user's, and not a conversation's.
  let isTable: Bool
  /// Whether its name says what it is, and nothing else.
  let isNamed: Bool
  let score: Int

  /// By which messages may name a member.
  var key: HostColumn? { isTable ? table.key : nil }

  /// The likeliest first; the conversations themselves where no other table says who takes part and they name two users.
  static func all(in schema: HostSchema, for messages: MessagesGuess, _ users: HostTable?) -> [MembersGuess] {
    guard let place = messages.conversation else { return [] }
    let found = schema.tables.compactMap { MembersGuess($0, schema, messages, place, users) }.filter { $0.score >= 5 }
      .sorted { $0.score > $1.score }
    return found.isEmpty ? MembersGuess(pairIn: schema, messages, place, users).map { [$0] } ?? [] : found
  }

  private init?(
    _ table: HostTable, _ schema: HostSchema, _ messages: MessagesGuess, _ place: HostColumn, _ users: HostTable?
  ) {
    guard table != messages.table, table != users, let conversation = table.column(like: place, of: messages.table),
      let user = table.member(users, besides: conversation)
    else { return nil }
    let weight = NameKey(table.name).weight(among: .members)
    let keys = [conversation, user].filter { table.reference(of: $0.name) != nil }.count
    let isUnique = table.isUnique([conversation.name, user.name])
    guard weight > 0 || keys == 2 && isUnique else { return nil }
    (self.table, self.conversation, self.users, isTable) = (table, conversation, [user], true)
    let target = messages.table.reference(of: place.name).flatMap(schema.table(of:))
    let known =
      HostWords.memberWords.all + HostWords.conversations.all
      + ([messages.table, users, target].compactMap { $0?.name } + [place.name]).flatMap(NameKey.words)
    // A word that is not known may say that only some of its rows, or others, are members.
    let isPlain = NameKey.words(of: table.name).allSatisfy { word in
      word.count == 1 || known.contains(word) || HostWords.members.all.contains(where: word.hasSuffix)
    }
    let hasLooks = table.looked != nil
    let isOfForum = hasLooks && weight <= 5 && HostWords.forums.all.contains(NameKey(column: conversation.name).text)
    isNamed = weight > 0 && !isOfForum && !table.isAside && isPlain
    let hasText = table.column(among: .bodies, where: \.isText) != nil
    let isOfMessages = table.columns.contains { $0 != conversation && NameKey(column: $0.name).text == "message" }
    score =
      weight + keys + (isUnique ? 4 : 0) + (hasLooks ? 3 : 0) - (table.isAside ? 8 : 0) - (hasText ? 6 : 0)
      - (isOfMessages ? 6 : 0)
  }

  /// The conversations, whose rows name exactly two users who could take part.
  private init?(pairIn schema: HostSchema, _ messages: MessagesGuess, _ place: HostColumn, _ users: HostTable?) {
    let named = schema.tables.filter { NameKey($0.name) == NameKey(column: place.name) }
    let target = messages.table.reference(of: place.name).map(schema.table(of:)) ?? (named.count == 1 ? named[0] : nil)
    guard let table = target, let id = table.key, id.idType == place.idType else { return nil }
    let pair = table.columns.filter { column in
      let key = NameKey(column: column.name).text
      let isUser = table.refers(column, to: users) && !HostWords.notMembers.all.contains(key)
      return column.idType != nil && column != id && (isUser || HostWords.pairs.all.contains(key))
    }
    guard pair.count == 2 else { return nil }
    (self.table, conversation, self.users, isTable, isNamed, score) = (table, id, pair, false, true, 9)
  }

  /// - Parameter others: the less likely.
  func section(besides others: some Sequence<MembersGuess>, _ users: HostTable?) -> ProposedSection {
    // Of two tables that may both say who takes part, the wrong one reaches strangers.
    let rivals = others.filter { $0.isNamed || $0.score > score - 2 }.map(\.table)
    var section = ProposedSection(
      .members, table,
      doubt: table.doubt(besides: rivals)
        ?? (isNamed ? nil : "its name does not say that its rows are those who take part"))
    section.add("conversation", conversation)
    for user in self.users { section.add("user", user) }
    if let kind = table.classColumn(of: self.users[0]) {
      let pattern = "%\(users?.className ?? "User")".quotedLiteral
      section.add("only", "\(kind.sql) like \(pattern)", "\(kind.name) says whose id it is")
    }
    guard isTable else { return section }
    if let looked = table.looked { section.add("seen", looked.sql, "when a member last looked") }
    // Where tacet migrate has added it. A left_at is the host's, and says that a member has left.
    if let left = table.column("tacet_left_at") { section.add("left", left.sql) }
    if let unread = table.unread { section.add("unread", unread.sql, "the badge is the sum of these") }
    section.addHiding(.member, besides: self.users + [conversation, table.looked])
    return section
  }
}

extension HostTable {
  var looked: HostColumn? { column(among: .looks, where: \.isTime) }
  var unread: HostColumn? { column(among: .unread, where: \.isInteger) }

  fileprivate func member(_ users: HostTable?, besides conversation: HostColumn) -> HostColumn? {
    func fits(_ column: HostColumn) -> Bool { column.idType != nil && column != conversation }
    let keyed = columns.filter { fits($0) && refers($0, to: users) }
    return reference(among: .memberColumns, where: keyed.contains)
      ?? (keyed.count == 1 ? keyed[0] : nil)
      ?? (keyed.isEmpty ? reference(among: .memberColumns, where: fits) : nil)
  }

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
      let names = references.filter { $0.column == column.name }.map { NameKey($0.table) }
      return column.idType != nil
        && names.contains { $0.weight(among: .users) >= max(1, $0.weight(among: .members)) }
    }
  }
}
