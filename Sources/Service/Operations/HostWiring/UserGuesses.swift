internal import Postgres
internal import PushRules

/// The table of the users, with the columns that are read.
struct UsersGuess {
  let table: HostTable
  let id: HostColumn
  /// In SQL.
  let name: String?
  let score: Int

  /// Nil for a table without a key, or with one of another type.
  init?(_ table: HostTable, like column: HostColumn?, id: HostColumn? = nil) {
    guard let id = id ?? table.key, let type = id.idType, column == nil || column?.idType == type else { return nil }
    (self.table, self.id, name) = (table, id, Self.name(in: table))
    score = NameKey(table.name).weight(among: .users) + (name == nil ? 0 : 2) - (table.isAside ? 8 : 0)
  }

  /// A whole name, else its parts, else what a user is called by; two of these where the first may be empty.
  private static func name(in table: HostTable) -> String? {
    let found = HostWords.names.all.compactMap { word in
      table.columns.first { NameKey.plain($0.name) == word && $0.isText }
    }
    var names = found.map(\.sql)
    let isWhole = found.first.map { HostWords.wholeNames.all.contains(NameKey.plain($0.name)) } ?? false
    if !isWhole, let first = table.column(among: .firstNames, where: \.isText),
      let last = table.column(among: .lastNames, where: \.isText)
    {
      names.insert("btrim(concat_ws(' ', \(first.sql), \(last.sql)))", at: 0)
    }
    guard names.count > 1 else { return names.first }
    return "coalesce(nullif(\(names[0]), ''), \(names[1]))"
  }

  /// The table that the sender refers to, by its foreign key or its name; else the one that is called like users. Where the key leads
  /// into a schema that is not looked at, such as Supabase's auth, the table whose own key leads there too.
  static func find(in schema: HostSchema, for messages: MessagesGuess) -> UsersGuess? {
    let (sender, table) = (messages.sender, messages.table)
    func best(_ all: [UsersGuess]) -> UsersGuess? {
      all.filter { NameKey($0.table.name).weight(among: .users) > 0 }
        .max { ($0.score, $1.table.fullName) < ($1.score, $0.table.fullName) }
    }
    let any = schema.tables.compactMap { UsersGuess($0, like: nil) }
    if let reference = table.reference(of: sender.name) {
      guard let target = schema.table(of: reference) else {
        return best(
          schema.tables.compactMap { table in
            let key = table.references.first { ($0.schema, $0.table) == (reference.schema, reference.table) }
            guard let key, table.isUnique([key.column]), let id = table.column(key.column) else { return nil }
            return UsersGuess(table, like: sender, id: id)
          })
      }
      let name = NameKey(target.name)
      let isMember = name.weight(among: .users) < name.weight(among: .members)
      return isMember ? best(any) : UsersGuess(target, like: sender)
    }
    let key = NameKey(column: sender.name)
    if HostWords.memberships.all.contains(key.text), key.text != "member" { return best(any) }
    let like = any.filter { $0.id.idType == sender.idType }
    return like.first { NameKey($0.table.name) == key && !$0.table.isAside } ?? best(like)
  }

  var section: ProposedSection {
    var section = ProposedSection(.users, table, lines: ["id": id.sql])
    if let name {
      section.add("name", name)
    } else {
      section.note("no column is a name, so pushes have none of a sender; a line name may be an expression")
    }
    let zone = table.column(among: .zones, where: \.isText)
    if let zone { section.add("zone", zone.sql) }
    section.addHiding(.profile, besides: [id, zone])
    return section
  }
}

/// A table that may hold device tokens of APNs.
struct DevicesGuess {
  let section: ProposedSection
  let table: HostTable
  let score: Int

  /// Nil for a table without a token and a user, or whose tokens are probably others.
  init?(_ table: HostTable, _ schema: HostSchema, _ users: UsersGuess?, like id: HostColumn) {
    // From a fifth of a sample's values on, their column holds tokens.
    let sampled = table.columns.first { $0.isText && $0.facts?.tokens ?? 0 >= 0.2 }
    let clear = sampled ?? table.column(among: .tokens, where: \.isText)
    guard let token = clear ?? table.vagueToken, clear != nil || !schema.isKey(token) else { return nil }
    let isOfUsers = users?.table == table
    let other = table.reference(among: .memberColumns) { $0.idType == id.idType && $0 != token }
    guard let user = isOfUsers ? users?.id : other else { return nil }
    (self.table, score) = (table, (clear == nil ? 4 : 9) + (table.isOfDevices ? 6 : 0) - (table.isAside ? 8 : 0))
    guard score > 0 else { return nil }
    let isSure = score >= 9
    let doubt = "its \(token.name) may be no token of APNs; with own the wiring makes a table"
    var section = ProposedSection(.devices, table.sql, isSure ? nil : doubt, isUnsure: !isSure)
    let columns: KeyValuePairs<String, HostColumn?> = [
      "user": user, "token": token, "platform": table.column(among: .platforms, where: \.isText),
      "app": table.column(among: .apps, where: \.isText),
      "environment": table.column(among: .environments, where: \.isText)
        ?? table.column(among: .sandboxes, where: \.isFlag),
      "registered": table.column(among: .registered, where: \.isTime),
    ]
    for (key, column) in columns { if let column { section.add(key, column.sql) } }
    // Where the token is a key, a row is a device whatever the table is called, and two cannot lose theirs alone.
    let keepsRows = isOfUsers || !table.isOfDevices && !table.isUnique([token.name])
    let invalidated = table.column(among: .invalid) { $0.type.hasPrefix("timestamp") }
    section.add(
      "dead", invalidated?.sql ?? (keepsRows ? "clear" : "delete"), "what becomes of a token that APNs calls dead")
    if let invalidated { section.add("only", "\(invalidated.sql) is null") }
    for column in table.columns where column.isFlag && HostWords.existing.all.contains(NameKey.plain(column.name)) {
      section.add("only", "\(column.sql) is not false")
    }
    self.section = section
  }
}

extension HostTable {
  /// Whether its contents help to say what it holds.
  package var isSampled: Bool {
    isTable && (messagesWeight > 0 || column(among: .tokens, where: \.isText) != nil || vagueToken != nil)
  }

  fileprivate var isOfDevices: Bool { HostWords.devices.all.contains(where: NameKey.plain(name).contains) }

  fileprivate var vagueToken: HostColumn? {
    column(among: .vagueTokens) { $0.isText && (isOfDevices || NameKey.plain($0.name) != "token") }
  }
}

extension HostSchema {
  /// Whether a device's id is one that the application gives: with others it is a key of some table.
  fileprivate func isKey(_ id: HostColumn) -> Bool {
    let keys = tables.flatMap(\.indexes).filter { $0.isUnique && $0.columns.count > 1 }
    return NameKey.plain(id.name) == "deviceid" && keys.contains { $0.columns.contains(id.name) }
  }
}

/// What says which messages were read.
enum ReadGuess {
  /// - Parameter members: the likeliest.
  static func section(in schema: HostSchema, for messages: MessagesGuess, _ members: MembersGuess?) -> ProposedSection {
    if let members, members.isTable, let marker = marker(of: members.table, in: messages) {
      return ProposedSection(.read, "marker \(marker)", "how far a member has read")
    }
    // The words of the messages' own name say nothing of a table beside them.
    let words = Set(HostWords.reading.all).subtracting(NameKey.words(of: messages.table.name))
    for table in schema.tables where table.isTable && table != members?.table && table != messages.table {
      guard !words.isDisjoint(with: NameKey.words(of: table.name)) else { continue }
      if let section = receipts(table, messages) ?? state(table, messages) { return section }
    }
    if let array = messages.table.column(among: .readers, where: { $0.type.hasPrefix("_") || $0.isJSON }) {
      return ProposedSection(.read, "array \(array.sql)")
    }
    let flag = messages.table.column(among: .readFlags) { $0.isFlag || $0.type.hasPrefix("timestamp") }
    if let flag, messages.conversation == nil || members?.isTable == false {
      return ProposedSection(.read, "flag \(flag.isRead)")
    }
    let reason = flag.map { "\($0.name) does not say who has read" } ?? "no column says what was read"
    let badge = members?.table.unread == nil ? ", and there is no badge" : ""
    return ProposedSection(.read, "none", "\(reason): a push comes although the message was read elsewhere\(badge)")
  }

  /// A time as in the messages, a number as one of theirs, or the id of a message: where ids do not grow, the time of that message.
  private static func marker(of table: HostTable, in messages: MessagesGuess) -> String? {
    let created = messages.created
    func comparable(_ list: HostWords) -> HostColumn? {
      table.column(among: list) { $0.isTime && $0.type == created?.type }
    }
    if let created, let time = comparable(.reads) { return "\(time.sql) >= \(created.sql)" }
    if let created, let first = comparable(.firstUnread) { return "\(first.sql) > \(created.sql)" }
    if let id = table.reference(among: .readMessages, where: { $0.idType == messages.id.idType }) {
      if id.isInteger { return "\(id.sql) >= \(messages.id.sql)" }
      if let created {
        return
          "(select x.\(created.sql) from \(messages.table.sql) x where x.\(messages.id.sql) = \(id.sql)) >= \(created.sql)"
      }
    }
    let places = messages.table.columns.filter(\.isInteger)
    let prefixes = ["lastread", "read", NameKey.words(of: messages.table.name).last ?? ""]
    for column in table.columns where column.isInteger {
      let plain = NameKey.plain(column.name)
      let place = places.first { place in
        place != messages.id && prefixes.contains { plain == $0 + NameKey.plain(place.name) }
      }
      if let place { return "\(column.sql) >= \(place.sql)" }
    }
    guard let created, let looked = comparable(.looks) else { return nil }
    return "\(looked.sql) >= \(created.sql)"
  }

  /// A row for each message and reader.
  private static func receipts(_ table: HostTable, _ messages: MessagesGuess) -> ProposedSection? {
    let message = table.columns.first { column in
      table.refers(column, to: messages.table)
        || NameKey(column: column.name).text == "message" && table.reference(of: column.name) == nil
    }
    guard let message, message.idType == messages.id.idType, let user = reader(of: table, besides: message) else {
      return nil
    }
    var section = ProposedSection(.read, table, lines: ["message": message.sql, "user": user.sql])
    let flag = table.column(among: .readFlags) { $0.isFlag || $0.type.hasPrefix("timestamp") && $0.isNullable }
    if let flag { section.add("only", flag.isRead) }
    return section
  }

  /// A row for each conversation and reader, with how far that one has read.
  private static func state(_ table: HostTable, _ messages: MessagesGuess) -> ProposedSection? {
    guard let conversation = messages.conversation, let marker = marker(of: table, in: messages),
      let place = table.column(like: conversation, of: messages.table), let user = reader(of: table, besides: place)
    else { return nil }
    return ProposedSection(.read, table, lines: ["conversation": place.sql, "user": user.sql, "marker": marker])
  }

  private static func reader(of table: HostTable, besides taken: HostColumn) -> HostColumn? {
    let keyed = table.users
    return keyed.count == 1
      ? keyed[0] : table.reference(among: .memberColumns) { $0.idType != nil && $0 != taken }
  }
}

extension HostColumn {
  /// The condition that a flag or a time is set.
  fileprivate var isRead: String { isFlag ? sql : "\(sql) is not null" }
}
