internal import Postgres
internal import PushRules

/// A table that may hold the messages, with the columns that are read.
struct MessagesGuess {
  let table: HostTable
  let id: HostColumn
  /// A user, or a member where that table has a key.
  let sender: HostColumn
  let isSenderSure: Bool
  /// Nil where no column looks like it.
  let body: HostColumn?
  let isBodySure: Bool
  let recipient: HostColumn?
  /// Nil where the row says whom a message is for, and where no column looks like it.
  let conversation: HostColumn?
  let created: HostColumn?
  let isNamed: Bool
  let score: Int

  init?(_ table: HostTable, _ schema: HostSchema) {
    guard table.isTable, let id = table.messageKey, id.idType != nil, let sender = table.sender(besides: id) else {
      return nil
    }
    (self.table, self.id, self.sender, isSenderSure) = (table, id, sender.column, sender.isSure)
    (body, isBodySure) = (table.body?.column, table.body?.isSure == true)
    recipient = schema.recipient(of: table, besides: [id, sender.column])
    conversation = schema.conversation(of: table, besides: [id, body, sender.column, recipient])
    created = table.column(among: .created, where: \.isTime)
    // One of the three may be where no name and no key says it.
    guard conversation != nil || recipient != nil || isBodySure else { return nil }
    let keys = [conversation ?? recipient, sender.column].compactMap { $0 }.filter {
      table.reference(of: $0.name) != nil
    }
    isNamed = table.messagesWeight > 0
    let isVague = NameKey(table.name).rank(among: .vagueMessages) != nil
    // Without a name only the keys and a time tell messages from other texts.
    guard isNamed || isVague || keys.count == 2 && created != nil && isBodySure else { return nil }
    let missing = (body == nil ? 4 : 0) + (conversation ?? recipient == nil ? 4 : 0)
    score =
      table.messagesWeight + (isVague ? 1 : 0) + (created == nil ? 0 : 2) + keys.count - missing
      - (table.isAside ? 8 : 0)
    guard score > 0 else { return nil }
  }

  /// Whether the sender's column refers to the key of a table of members.
  func isSent(through members: MembersGuess) -> Bool {
    guard let key = members.key, key.idType == sender.idType, table.classColumn(of: sender) == nil else { return false }
    if table.reference(of: sender.name) != nil { return table.refers(sender, to: members.table) }
    let named = NameKey(column: sender.name).text
    return HostWords.memberships.all.contains(named) && NameKey(members.table.name).text.hasSuffix(named)
  }

  /// - Parameter others: the less likely.
  func section(
    of schema: HostSchema, besides others: some Sequence<MessagesGuess>, _ users: UsersGuess?, _ members: MembersGuess?
  ) -> ProposedSection {
    let rivals = others.filter { $0.score > score - 2 }.map(\.table)
    var section = ProposedSection(
      .messages, table,
      doubt: table.doubt(besides: rivals) ?? (isNamed ? nil : "its name does not say that it holds messages"))
    if let conversation {
      section.add("conversation", conversation)
    } else if recipient == nil {
      section.add("conversation", "", "no name and no key says where a message was written", isUnsure: true)
    }
    if let recipient {
      let choice = "says who a message is for: keep this line or conversation, and delete the other"
      let several = recipient.idType == nil ? "is no id of one user: write a view of members" : nil
      section.add("recipient", recipient, doubt: conversation == nil ? several : choice)
    }
    addSender(to: &section, schema, users, members)
    let bodyDoubt = isBodySure ? nil : "no name says which column is the text"
    section.add("text", body?.sql ?? "", bodyDoubt, isUnsure: !isBodySure)
    if let created {
      let isUnzoned = created.type == "timestamp"
      section.add("written", created.sql, isUnzoned ? "of any zone: counts as the latest moment that it can be" : nil)
    }
    if let kind = table.column(among: .kinds, where: \.isInteger) {
      let values = (kind.facts?.values ?? []).map(String.init).joined(separator: ", ")
      section.add(
        "only", values.isEmpty ? "" : "\(kind.sql) in (\(values))",
        "\(kind.name) is a number: name those that people write, as \(kind.sql) in (0, 1), or delete the line",
        isUnsure: true)
    }
    section.addHiding(.message, besides: [id, body, conversation, recipient, sender, created])
    return section
  }

  /// The sender as a user: through the member that it names, or of one class where it may be of several.
  private func addSender(
    to section: inout ProposedSection, _ schema: HostSchema, _ users: UsersGuess?, _ members: MembersGuess?
  ) {
    if let members, let key = members.key, isSent(through: members) {
      let value = "(select x.\(members.users[0].sql) from \(members.table.sql) x where x.\(key.sql) = \(sender.sql))"
      return section.add("sender", value, "\(sender.name) names a member")
    }
    guard let kind = table.classColumn(of: sender) else {
      return section.add("sender", sender.sql, table.why(sender), isUnsure: !isSenderSure)
    }
    func isOf(_ table: HostTable) -> String { "\(kind.sql) like \("%\(table.className)".quotedLiteral)" }
    let value = users.map { "case when \(isOf($0.table)) then \(sender.sql) end" } ?? sender.sql
    section.add("sender", value, "\(kind.name) says whose id it is")
    let names = schema.tables.filter { HostWords.otherSenders.all.contains(NameKey($0.name).text) }
      .compactMap { UsersGuess($0, like: sender) }
      .compactMap { other in
        other.name.map {
          "(select \($0) from \(other.table.sql) x where x.\(other.id.sql) = \(sender.sql) and \(isOf(other.table)))"
        }
      }
    guard !names.isEmpty else { return }
    section.add(
      "sender_name", names.count == 1 ? names[0] : "coalesce(\(names.joined(separator: ", ")))",
      "of senders who are no users")
  }
}

extension HostTable {
  /// How much its name says that it holds messages: a word inside it less than one that it ends in.
  var messagesWeight: Int {
    max(NameKey(name).weight(among: .messages), NameKey.words(of: name).contains("message") ? 4 : 0)
  }

  /// Who wrote the message, not who deleted or edited it or gets an answer.
  fileprivate func sender(besides id: HostColumn?) -> (column: HostColumn, isSure: Bool)? {
    func fits(_ column: HostColumn) -> Bool {
      let key = NameKey.plain(column.name)
      return column.idType != nil && column != id && !HostWords.notSenders.all.contains { key.hasPrefix($0) }
    }
    let keyed = users.filter(fits)
    let named = reference(among: .senders, where: keyed.contains) ?? reference(among: .senders, where: fits)
    if let named { return (named, true) }
    let others = keyed.filter { !$0.isRecipient }
    return others.first.map { ($0, others.count == 1) }
  }

  /// A text by its name; else the only one, or the longest in a sample, which is asked about.
  fileprivate var body: (column: HostColumn, isSure: Bool)? {
    if let named = column(among: .bodies, where: { $0.isText || $0.isJSON }) { return (named, true) }
    let texts = columns.filter { column in
      let plain = NameKey.plain(column.name)
      return column.idType == .text && reference(of: column.name) == nil && !plain.hasSuffix("id")
        && !HostWords.notBodies.all.contains(where: plain.contains)
    }
    return texts.max { $0.facts?.length ?? 0 < $1.facts?.length ?? 0 }.map { ($0, false) }
  }

  /// What it lacks first to hold messages, where it has a key; for people.
  var lack: String {
    guard sender(besides: nil) != nil else { return "a sender (line sender)" }
    return body == nil ? "a text (line text)" : "a conversation (line conversation, or recipient)"
  }
}

extension HostColumn {
  /// Whether it is called like somebody whom a message is for; the first three also at the end of a name.
  fileprivate var isRecipient: Bool {
    let key = NameKey(column: NameKey(name).text).text
    let words = HostWords.recipients.all
    return words.contains(key) || words.prefix(3).contains(where: key.hasSuffix)
  }
}

extension HostSchema {
  /// Where every message is: a column that may be null, such as a thread's, comes after those that may not. Without a name, what a
  /// table of members refers to as well.
  fileprivate func conversation(of table: HostTable, besides taken: [HostColumn?]) -> HostColumn? {
    func fits(_ column: HostColumn) -> Bool { column.idType != nil && !taken.contains(column) }
    let named =
      table.reference(among: .conversations) {
        fits($0) && !$0.isNullable && table.reference(of: $0.name) != nil
      }
      ?? table.reference(among: .conversations) { fits($0) && !$0.isNullable }
      ?? table.reference(among: .conversations, where: fits)
    if let named { return named }
    let keyed = table.columns.filter { column in
      guard fits(column), let target = table.reference(of: column.name).flatMap(self.table(of:)), target != table,
        NameKey(target.name).weight(among: .users) < 7
      else { return false }
      let others = tables.filter { $0 != table && $0.references.contains { self.table(of: $0) == target } }
      return target.users.count == 2 || others.contains { !$0.users.isEmpty }
    }
    return keyed.count == 1 ? keyed[0] : nil
  }

  fileprivate func recipient(of table: HostTable, besides taken: [HostColumn?]) -> HostColumn? {
    table.columns.first { column in
      let isOfUsers = column.idType != nil || column.type.hasPrefix("_") || column.isJSON
      guard isOfUsers, !taken.contains(column), column.isRecipient else { return false }
      if table.reference(of: column.name) != nil { return table.users.contains(column) }
      let key = NameKey(column: NameKey(column.name).text).text
      return !tables.contains { NameKey.words(of: $0.name).last == key }
    }
  }
}
