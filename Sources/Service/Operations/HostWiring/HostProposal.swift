internal import Postgres

/// What `tacet init` proposes: by foreign keys, then by columns and samples of what is in them, then by names. What is not certain is
/// marked, and nobody takes part in a conversation because nothing says who does.
package struct HostProposal {
  typealias Line = HostMapping.Line
  typealias Section = HostMapping.Section

  let schema: HostSchema

  /// - Parameter role: the service's, where it is another than the tables' owner.
  /// - Throws: ``MappingFault`` where no table looks like messages.
  package static func mapping(of schema: HostSchema, role: String? = nil) throws(MappingFault) -> HostMapping {
    var mapping = try HostProposal(schema: schema).mapping()
    if let role { mapping.sections.append(Section(.role, role.quotedIdentifier)) }
    mapping.preface = [
      Line("", "", "Which tables and columns play which part: read, edit, then tacet init --from this file."),
      Line("", "", "Values are SQL; db/README.md lists the lines. Whoever marks a line with ? does not know."),
    ]
    return mapping
  }

  /// Whether a host has the tables of the default contract, which `tacet migrate` wires alone.
  package static func isDefault(_ schema: HostSchema) -> Bool {
    let wanted: KeyValuePairs = [
      "messages": ["id", "conversation_id", "from_id", "text", "read_by", "created_at"],
      "conversation_participants": ["conversation_id", "user_id"], "profiles": ["id", "name"],
      "push_tokens": ["user_id", "device_token", "platform"],
    ]
    return wanted.allSatisfy { name, columns in
      guard let table = schema.table(named: "public.\(name)") else { return false }
      return columns.allSatisfy { table.column($0) != nil }
    }
  }

  private func mapping() throws(MappingFault) -> HostMapping {
    let guesses = schema.tables.compactMap { MessagesGuess($0, schema) }.sorted { $0.score > $1.score }
    guard let messages = guesses.first else { throw MappingFault(0, refusal) }
    let users = UsersGuess.find(in: schema, for: messages)
    let members = MembersGuess.all(in: schema, for: messages, users?.table)
    var sections = [section(messages, guesses.dropFirst().map { $0 }, users, members.first)]
    if let fault = schema.messagesFault(messages.table) { throw MappingFault(0, fault) }
    if let fault = tenants(messages, members.first) { throw fault }
    sections.append(section(members, messages, users))
    sections.append(ReadGuess.section(in: schema, for: messages, members.first))
    sections.append(section(users))
    sections += blocks(users?.id ?? messages.sender)
    sections.append(devices(users, messages.sender))
    return HostMapping(sections)
  }

  // MARK: Messages

  /// What is missing, where nothing can hold the messages.
  private var refusal: String {
    let named = schema.tables.filter { NameKey($0.name).weight(among: .messages) > 2 && !$0.isAside }
    let lacks = named.prefix(3).map {
      schema.messagesFault($0) ?? "\($0.fullName) lacks \(MessagesGuess.lack($0, schema))"
    }
    return """
      no table looks like messages: \(lacks.isEmpty ? "none has a key, a sender and a text" : lacks.joined(separator: "; ")). \
      Write tacet.host yourself: a line messages TABLE, under it id, conversation, sender and text, then members TABLE with \
      conversation and user, and run tacet init --from tacet.host. For what no line can say see db/CONTRACT.md.
      """
  }

  private func tenants(_ messages: MessagesGuess, _ members: MembersGuess?) -> MappingFault? {
    let named: [(HostColumn?, HostTable?)] = [
      (messages.conversation, messages.table), (members?.conversation, members?.table),
      (messages.sender, messages.table),
    ]
    for case (let column?, let table?) in named {
      if let text = schema.tenants(of: column, in: table) { return MappingFault(0, "\(table.fullName): \(text)") }
    }
    return nil
  }

  private func section(
    _ guess: MessagesGuess, _ others: [MessagesGuess], _ users: UsersGuess?, _ members: MembersGuess?
  ) -> Section {
    let table = guess.table
    let rivals = others.prefix { $0.score > guess.score - 2 }
    var section = Section(
      .messages, table.sql,
      rivals.isEmpty ? table.size : "or \(rivals.prefix(3).map(\.table.fullName).joined(separator: ", "))?",
      isUnsure: !rivals.isEmpty || !guess.isNamed)
    switch (guess.conversation, guess.recipient) {
    case (let place?, nil): section.add("conversation", place.sql, table.why(place))
    case (nil, nil):
      section.add("conversation", "", "no name and no key says where a message was written", isUnsure: true)
    case (nil, let recipient?) where recipient.idType != nil:
      section.add("recipient", recipient.sql, table.why(recipient))
    case (nil, let recipient?):
      section.add("recipient", recipient.sql, "is no id of one user: write a view of members", isUnsure: true)
    case (let place?, let recipient?):
      section.add("conversation", place.sql, table.why(place))
      let choice = "says who a message is for: keep this line or conversation, and delete the other"
      section.add("recipient", recipient.sql, choice, isUnsure: true)
    }
    section.lines += sender(guess, users, members)
    let bodyDoubt = guess.isBodySure ? nil : "no name says which column is the text"
    section.add("text", guess.body?.sql ?? "", bodyDoubt, isUnsure: bodyDoubt != nil)
    if let created = guess.created {
      let isUnzoned = created.type == "timestamp"
      section.add("written", created.sql, isUnzoned ? "of any zone: counts as the latest moment that it can be" : nil)
    }
    if let kind = guess.kindNumber { section.lines.append(kinds(kind, table)) }
    let taken = [
      guess.id, guess.body, guess.conversation, guess.recipient, guess.sender, guess.created, guess.kindNumber,
    ]
    addRest(.message, of: table, besides: taken, to: &section)
    return section
  }

  /// The sender as a user: through the member that it names, or of one class where it may be of several.
  private func sender(_ guess: MessagesGuess, _ users: UsersGuess?, _ members: MembersGuess?) -> [Line] {
    let (table, column) = (guess.table, guess.sender)
    if let members, let key = members.key, guess.isSent(through: members) {
      let value = "(select x.\(members.users[0].sql) from \(members.table.sql) x where x.\(key.sql) = \(column.sql))"
      return [Line("sender", value, "\(column.name) names a member")]
    }
    guard let kind = table.classColumn(of: column) else {
      return [Line("sender", column.sql, table.why(column), isUnsure: !guess.isSenderSure)]
    }
    func isOf(_ table: HostTable) -> String { "\(kind.sql) like \("%\(table.className)".quotedLiteral)" }
    let value = users.map { "case when \(isOf($0.table)) then \(column.sql) end" } ?? column.sql
    let others = schema.tables.filter { HostWords.otherSenders.all.contains(NameKey($0.name).text) }
      .compactMap { UsersGuess($0, like: column) }.filter { $0.name != nil }
    let names = others.map { other in
      "(select \(other.name ?? "") from \(other.table.sql) x where x.\(other.id.sql) = \(column.sql) and \(isOf(other.table)))"
    }
    let name = names.count == 1 ? names[0] : "coalesce(\(names.joined(separator: ", ")))"
    return [Line("sender", value, "\(kind.name) says whose id it is")]
      + (names.isEmpty ? [] : [Line("sender_name", name, "of senders who are no users")])
  }

  private func kinds(_ kind: HostColumn, _ table: HostTable) -> Line {
    let values = schema.facts(kind, of: table)?.values ?? []
    return Line(
      "only", values.isEmpty ? "" : "\(kind.sql) in (\(values.map(String.init).joined(separator: ", ")))",
      "\(kind.name) is a number: name those that people write, as \(kind.sql) in (0, 1), or delete the line",
      isUnsure: true)
  }

  // MARK: Members

  private func section(_ guesses: [MembersGuess], _ messages: MessagesGuess, _ users: UsersGuess?) -> Section {
    if messages.recipient != nil, messages.conversation == nil {
      return Section(.members, "recipient", "the sender and the recipient of a message are the conversation")
    }
    guard let best = guesses.first else {
      let everyone = users.map { "; with everyone, \($0.table.everyone)" } ?? ""
      return Section(
        .members, "", "no table says who takes part: name one, or a view of yours\(everyone)", isUnsure: true)
    }
    // Of two tables that may both say who takes part, the wrong one reaches strangers.
    let rivals = guesses.dropFirst().filter { $0.isNamed || $0.score > best.score - 2 }
    let table = best.table
    var section = Section(
      .members, table.sql,
      rivals.isEmpty
        ? (best.isNamed ? table.size : "its name does not say that its rows are those who take part")
        : "or \(rivals.prefix(3).map(\.table.fullName).joined(separator: ", "))?",
      isUnsure: !rivals.isEmpty || !best.isNamed)
    section.add("conversation", best.conversation.sql, table.why(best.conversation))
    for user in best.users { section.add("user", user.sql, table.why(user)) }
    if let kind = table.classColumn(of: best.users[0]) {
      let pattern = "%\(users?.table.className ?? "User")".quotedLiteral
      section.add("only", "\(kind.sql) like \(pattern)", "\(kind.name) says whose id it is")
    }
    if let looked = best.looked { section.add("seen", looked.sql, "when a member last looked") }
    if let left = best.leftAt { section.add("left", left.sql) }
    if let unread = best.unread { section.add("unread", unread.sql, "the badge is the sum of these") }
    guard best.isTable else { return section }
    addRest(.member, of: table, besides: best.users + [best.conversation, best.looked, best.leftAt], to: &section)
    return section
  }

  // MARK: Users, blocks, devices

  private func section(_ users: UsersGuess?) -> Section {
    guard let users else { return Section(.users, "none", "so pushes have no name of a sender") }
    var section = Section(.users, users.table.sql, users.table.size, [Line("id", users.id.sql)])
    section.lines.append(
      users.name.map { Line("name", $0) }
        ?? Line("", "", "no column is a name, so pushes have none of a sender; a line name may be an expression"))
    if let zone = users.zone { section.add("zone", zone.sql) }
    addRest(.profile, of: users.table, besides: [users.id, users.zone], to: &section)
    return section
  }

  private func blocks(_ user: HostColumn) -> [Section] {
    schema.blocks.compactMap { found in
      guard let table = schema.tables.first(where: { $0.schema == found.schema && $0.name == found.table }) else {
        return nil
      }
      guard let blocker = found.blocker.flatMap(table.column), let blocked = found.blocked.flatMap(table.column),
        blocker.idType == user.idType, blocked.idType == user.idType
      else {
        return Section(
          .blocks, table.sql, "is not used: write its lines blocker and blocked, or delete this line", isUnsure: true)
      }
      let lines = [Line("blocker", blocker.sql), Line("blocked", blocked.sql)]
      return Section(.blocks, table.sql, nil, lines + shown(.block, in: table, besides: [blocker, blocked]))
    }
  }

  private func devices(_ users: UsersGuess?, _ sender: HostColumn) -> Section {
    let guesses = schema.tables.compactMap { DevicesGuess($0, schema, users, like: users?.id ?? sender) }
      .sorted { ($1.score, $0.table.fullName) < ($0.score, $1.table.fullName) }
    guard let best = guesses.first else {
      return Section(.devices, "own", "no table has tokens of APNs: the wiring makes one, and apps register with Tacet")
    }
    let isSure = best.score >= DevicesGuess.sure
    let comment = isSure ? nil : "its \(best.token.name) may be no token of APNs; with own the wiring makes a table"
    return Section(.devices, best.table.sql, comment, isUnsure: !isSure, best.lines)
  }

  // MARK: What hides rows

  /// The conditions of a table, and what is there and plays no part, so that a reader sees what was passed over.
  private func addRest(
    _ place: HidingColumn.Place, of table: HostTable, besides taken: [HostColumn?], to section: inout Section
  ) {
    section.lines += shown(place, in: table, besides: taken) + unused(place, in: table, besides: taken)
    guard place != .profile else { return }
    let said = section.lines.map { "\($0.value) \($0.comment ?? "")" }.joined(separator: " ")
    let names = table.columns.map(\.name).filter { !said.contains($0) }
    if !names.isEmpty { section.add("", "", "not used: \(names.prefix(12).joined(separator: ", "))".onOneLine) }
  }

  private func shown(_ place: HidingColumn.Place, in table: HostTable, besides taken: [HostColumn?]) -> [Line] {
    table.hiding.compactMap { hiding in
      guard hiding.place == place, let before = hiding.before, let after = hiding.after,
        let column = table.column(hiding.name), !taken.contains(column)
      else { return nil }
      return Line(
        hiding.isWish == true ? "wants" : "only", "\(before)\(column.sql)\(after)",
        "\(column.name) \(hiding.words ?? "")")
    }
  }

  /// What looks as if it hid rows and is not understood. Of members it may say who has left, so it is asked about; a wish of theirs
  /// is not. A whole number called like a flag is one.
  private func unused(_ place: HidingColumn.Place, in table: HostTable, besides taken: [HostColumn?]) -> [Line] {
    let known = table.hiding.filter { $0.place == place && $0.before != nil }.map(\.name)
    let odd = table.hiding.filter { $0.place == place && $0.before == nil }.map(\.name)
    return table.columns.filter { !taken.contains($0) && !known.contains($0.name) }.compactMap { column in
      let plain = NameKey.plain(column.name)
      let isState = place == .member && ["state", "status"].contains(where: plain.hasSuffix)
      guard odd.contains(column.name) || isState else { return nil }
      if column.isInteger, plain.hasPrefix("is"), !plain.hasSuffix("active") {
        return Line("only", "coalesce(\(column.sql), 0) = 0", "\(column.name) is 0")
      }
      let isWish = HostWords.wishes.all.contains(where: plain.contains)
      if place == .member, isWish, column.isInteger, plain.hasSuffix("level") {
        return Line("wants", "coalesce(\(column.sql), 1) <> 0", "0 is taken for never")
      }
      guard place == .member, !isWish else {
        return Line("", "", "\(column.name) is not used: if it hides something, write a line only")
      }
      return Line(
        "only", "", "\(column.name) may say who takes part: write the condition of those, or delete the line",
        isUnsure: true)
    }
  }

  /// Whether a table may hold what is looked for, so that its contents help.
  static func isSampled(_ table: HostTable) -> Bool {
    MessagesGuess.weight(table) > 0 || DevicesGuess.hasToken(table)
  }
}

extension HostTable {
  /// About how many rows it has, where that says something.
  var size: String? { rows < 1000 ? nil : "about \(Int(rows)) rows" }

  /// What `everyone` means, of a table of users.
  var everyone: String { "every user of \(fullName) gets every message (now about \(Int(rows)))" }

  /// Why a column is taken for a reference.
  func why(_ column: HostColumn) -> String {
    reference(of: column.name).map { "foreign key to \($0.schema).\($0.table)" } ?? "by its name"
  }

  /// The column that says of which class a polymorphic reference is: `sender_type` beside `sender_id`.
  func classColumn(of column: HostColumn) -> HostColumn? {
    let key = NameKey.plain(column.name)
    guard key.hasSuffix("id") else { return nil }
    return columns.first { $0.isText && NameKey.plain($0.name) == key.dropLast(2) + "type" }
  }

  /// The class of its rows in Rails and Laravel: `User` of `users`.
  var className: String { NameKey.words(of: name).last.map { $0.prefix(1).uppercased() + $0.dropFirst() } ?? name }
}
