extension HostSchema {
  /// A table that may hold the messages; nil for one without a key, a sender, or both a place and a text.
  func messages(_ table: HostTable) -> Guess? {
    guard table.isTable, let id = table.messageKey, id.idType != nil, let sender = table.sender else { return nil }
    let body = table.column(among: .bodies) { $0.isText || $0.isJSON }
    let recipient = self.recipient(of: table, besides: [id, sender.column])
    let conversation = self.conversation(of: table, besides: [id, body, sender.column, recipient])
    let written = table.column(among: .created, where: \.isTime)
    let place = conversation ?? recipient
    let keys = [place, sender.column].count { $0.flatMap(table.reference(of:)) != nil }
    let missing = [body, place].count { $0 == nil }
    let weight = table.weight(among: .messages)
    // Without a name only the keys and a time tell messages from other texts.
    guard missing < 2, weight > 0 || keys == 2 && written != nil && body != nil else { return nil }
    var guess = Guess(
      .messages, table, score: weight + (written == nil ? 0 : 2) + keys - 4 * missing,
      doubt: weight > 2 ? nil : "its name does not say that it holds messages")
    guess.add(
      "conversation", conversation, doubt: place == nil ? "no name and no key says where a message was written" : nil)
    let isForTwo = conversation == nil && recipient?.idType != nil
    let choice = "says who a message is for: keep this line or conversation, or write a view of members"
    if let recipient { guess.add("recipient", recipient, doubt: isForTwo ? nil : choice) }
    let doubt = "may be no user: write whose it is, as (select x.user_id from members x where x.id = member_id)"
    let isUser = sender.isSure && !table.namesMember(sender.column)
    guess.add("sender", sender.column, doubt: isUser ? nil : doubt)
    let text = body ?? table.widestText(besides: [id, conversation, sender.column, recipient])
    let sampled = text?.width.map { "the widest text of the sample, \($0) bytes" }
    guess.add("text", text, doubt: body == nil ? sampled ?? "no name says which column is the text" : nil)
    guess.add("written", written)
    guess.addHiding(self)
    return guess
  }

  /// Where every message is: a column that may be null, such as a thread's, comes after those that may not. Without a name, the only one
  /// that refers to another table than users.
  private func conversation(of table: HostTable, besides taken: [HostColumn?]) -> HostColumn? {
    func fits(_ column: HostColumn) -> Bool { column.idType != nil && !taken.contains(column) }
    let named = table.reference(
      among: .conversations,
      likelihood: { $0.isNullable ? 0 : table.reference(of: $0) == nil ? 1 : 2 }, where: fits)
    let others = table.columns.filter { fits($0) && !table.users.contains($0) && !table.refers($0, to: table) }
    let keyed = others.filter { table.reference(of: $0) != nil }
    return named ?? (keyed.count == 1 ? keyed[0] : nil)
  }

  /// Who a message is for, or several whom it is for.
  private func recipient(of table: HostTable, besides taken: [HostColumn?]) -> HostColumn? {
    table.columns.first { column in
      let isOfUsers = column.idType != nil || column.type.hasPrefix("_") || column.isJSON
      guard isOfUsers, !taken.contains(column), column.isRecipient else { return false }
      if table.reference(of: column) != nil { return table.users.contains(column) }
      return !tables.contains { NameKey.words(of: $0.name).last == column.recipientKey }
    }
  }
}

extension HostTable {
  /// Who wrote the message, not who deleted or edited it or gets an answer.
  var sender: (column: HostColumn, isSure: Bool)? {
    person(among: .senders, keyed: users.filter { !$0.isRecipient }) { column in
      let plain = NameKey.plain(column.name)
      return column.idType != nil && column != messageKey && !HostWords.notSenders.all.contains(where: plain.hasPrefix)
    }
  }

  /// The text whose values are the longest in a sample.
  fileprivate func widestText(besides taken: [HostColumn?]) -> HostColumn? {
    columns.filter { $0.isText && $0.width != nil && !taken.contains($0) }.max { ($0.width ?? 0) < ($1.width ?? 0) }
  }

  /// Columns with foreign keys to tables that are called like users.
  var users: [HostColumn] {
    columns.filter { column in
      let names = references.filter { $0.column == column.name }.map { NameKey($0.table) }
      return column.idType != nil
        && names.contains { $0.weight(among: .users) >= max(1, $0.weight(among: .members)) }
    }
  }

  /// Whether a column says a member, and a table of members whose user that is.
  func namesMember(_ column: HostColumn) -> Bool {
    guard let target = reference(of: column).map({ NameKey($0.table) }) else {
      return HostWords.memberships.all.contains(NameKey(column: column.name).text)
    }
    return target.weight(among: .users) < target.weight(among: .members)
  }
}

extension HostColumn {
  /// Whether it is called like somebody whom a message is for; the first three also at the end of a name.
  fileprivate var isRecipient: Bool {
    let words = HostWords.recipients.all
    return words.contains(recipientKey) || words.prefix(3).contains(where: recipientKey.hasSuffix)
  }

  /// The name of one of several.
  fileprivate var recipientKey: String { NameKey(column: NameKey(name).text).text }
}
