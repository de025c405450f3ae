extension HostProposal {
  /// Who takes part; the conversations themselves where no other table says it and they name two users. Of two tables that may both say
  /// it, the wrong one reaches strangers.
  var members: Guess? {
    guard let place = messages.columns["conversation"] else { return nil }
    let named = schema.tables.filter { NameKey($0.name) == NameKey(column: place.name) }
    let key = messages.table.reference(of: place)
    let target = key.map(schema.table(of:)) ?? (named.count == 1 ? named[0] : nil)
    let found = schema.tables.compactMap { list($0, of: place, target) }
    return Guess.best(found) { $0.doubt == nil } ?? target.flatMap { pair(in: $0, of: place) }
  }

  private func list(_ table: HostTable, of place: HostColumn, _ target: HostTable?) -> Guess? {
    let (messages, users) = (self.messages.table, self.users?.table)
    let keyed = table.columns.filter { table.refers($0, to: users) }
    guard table != messages, table != users, let conversation = table.column(like: place, of: messages),
      let user = table.person(among: .memberColumns, keyed: keyed, where: { $0.idType != nil && $0 != conversation })
    else { return nil }
    let weight = NameKey(table.name).weight(among: .members)
    let keys = [conversation, user.column].count { table.reference(of: $0) != nil }
    let isUnique = table.isUnique([conversation.name, user.column.name])
    guard weight > 0 || keys == 2 && isUnique else { return nil }
    // A word that is not known may say that only some of its rows, or others, are members.
    let known =
      HostWords.memberWords.all + HostWords.conversations.all
      + ([messages, users, target].compactMap { $0?.name } + [place.name]).flatMap(NameKey.words)
    let isPlain = NameKey.words(of: table.name).allSatisfy { word in
      word.count == 1 || known.contains(word) || HostWords.members.all.contains(where: word.hasSuffix)
    }
    let isOfMessages =
      table.column(among: .bodies, where: \.isText) != nil
      || table.columns.contains { $0 != conversation && NameKey(column: $0.name).text == "message" }
    let isLikely = !isOfMessages && !table.isAside
    let looked = table.column(among: .looks, where: \.isTime)
    let isOfForum = weight <= 5 && HostWords.forums.all.contains(NameKey(column: conversation.name).text)
    let isSure = weight > 0 && isPlain && isLikely && user.isSure && (looked == nil || !isOfForum)
    // Less than five says too little.
    let score = weight + keys + (isUnique ? 4 : 0) + (looked == nil ? 0 : 3) - (isLikely ? 0 : 8)
    var guess = Guess(
      .members, table, score: score - 4,
      doubt: isSure ? nil : "its name does not say that its rows are those who take part")
    guess.add("conversation", conversation)
    guess.add("user", user.column)
    guess.add("seen", looked)
    guess.add("unread", table.column(among: .unread, where: \.isInteger))
    guess.addHiding(schema)
    return guess
  }

  /// The conversations, whose rows name exactly two users who could take part.
  private func pair(in table: HostTable, of place: HostColumn) -> Guess? {
    guard let id = table.key, id.idType == place.idType else { return nil }
    let pair = table.columns.filter { column in
      let key = NameKey(column: column.name).text
      let isUser = table.refers(column, to: users?.table) && !HostWords.notMembers.all.contains(key)
      return column.idType != nil && column != id && (isUser || HostWords.pairs.all.contains(key))
    }
    guard pair.count == 2 else { return nil }
    var guess = Guess(.members, table)
    guess.add("conversation", id)
    for user in pair { guess.add("user", user) }
    return guess
  }
}

extension HostTable {
  /// The column that refers to what another table's column refers to; without that key, the one of the same name and type.
  func column(like other: HostColumn, of table: HostTable) -> HostColumn? {
    let there = table.reference(of: other)
    let same = references.first { ($0.schema, $0.table, $0.target) == (there?.schema, there?.table, there?.target) }
    let key = NameKey(column: other.name)
    return same.flatMap { column($0.column) }
      ?? columns.first { NameKey(column: $0.name) == key && $0.idType == other.idType }
  }
}
