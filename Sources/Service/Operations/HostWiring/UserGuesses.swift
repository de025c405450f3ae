internal import Postgres
internal import PushRules

/// The table of the users, with the columns that are read.
struct UsersGuess {
  let table: HostTable
  let id: HostColumn
  /// In SQL.
  let name: String?
  let zone: HostColumn?
  let score: Int

  /// Nil for a table without a key, or with one of another type.
  init?(_ table: HostTable, like column: HostColumn?, id: HostColumn? = nil) {
    guard let id = id ?? table.key, let type = id.idType, column == nil || column?.idType == type else { return nil }
    (self.table, self.id) = (table, id)
    name = Self.name(in: table)
    zone = table.column(among: .zones, where: { $0.isText })
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
    let like = any.filter { $0.id.idType == sender.idType }
    if let reference = table.reference(of: sender.name) {
      guard let target = schema.table(of: reference) else {
        let beside = schema.tables.compactMap { table -> UsersGuess? in
          let key = table.references.first { ($0.schema, $0.table) == (reference.schema, reference.table) }
          guard let key, table.isUnique([key.column]), let id = table.column(key.column) else { return nil }
          return UsersGuess(table, like: sender, id: id)
        }
        return best(beside)
      }
      let weight = NameKey(target.name)
      if weight.weight(among: .users) >= weight.weight(among: .members) {
        return UsersGuess(target, like: sender)
      }
      return best(any)
    }
    let key = NameKey(column: sender.name)
    if ["participation", "participant", "membership"].contains(key.text) { return best(any) }
    return like.first { NameKey($0.table.name) == key && !$0.table.isAside } ?? best(like)
  }
}

/// A table that may hold device tokens of APNs.
struct DevicesGuess {
  /// From this score on it is taken without asking.
  static let sure = 9
  /// The share of a sample's values that are tokens, from which on their column holds tokens.
  private static let tokensMin = 0.2

  let table: HostTable
  let token: HostColumn
  let lines: [HostMapping.Line]
  let score: Int

  /// Nil for a table without a token and a user, or whose tokens are probably others.
  init?(_ table: HostTable, _ schema: HostSchema, _ users: UsersGuess?, like id: HostColumn) {
    let isNamed = Self.isNamed(table)
    let sampled = table.columns.first { (schema.facts($0, of: table)?.tokens ?? 0) >= Self.tokensMin && $0.isText }
    let clear = table.column(among: .tokens, where: \.isText)
    guard let token = sampled ?? clear ?? Self.vague(table) else { return nil }
    let isOfUsers = users?.table == table
    let other = table.reference(among: .memberColumns) { $0.idType == id.idType && $0 != token }
    guard let user = isOfUsers ? users?.id : other else { return nil }
    score = (sampled ?? clear == nil ? 4 : 9) + (isNamed ? 6 : 0) - (table.isAside ? 8 : 0)
    guard score > 0 else { return nil }
    (self.table, self.token) = (table, token)
    let environment =
      table.column(among: .environments, where: \.isText)
      ?? table.column(among: .sandboxes, where: \.isFlag)
    let invalidated = table.column(among: .invalid) { $0.type.hasPrefix("timestamp") }
    // Where the token is a key, a row is a device whatever the table is called, and two cannot lose theirs alone.
    let keepsRows = isOfUsers || !isNamed && !table.isUnique([token.name])
    let columns: KeyValuePairs<String, HostColumn?> = [
      "user": user, "token": token, "platform": table.column(among: .platforms, where: \.isText),
      "app": table.column(among: .apps, where: \.isText), "environment": environment,
      "registered": table.column(among: .registered, where: \.isTime),
    ]
    let active = table.columns.filter { $0.isFlag && HostWords.existing.all.contains(NameKey.plain($0.name)) }
    lines =
      columns.compactMap { key, column in column.map { HostMapping.Line(key, $0.sql) } }
      + [
        HostMapping.Line(
          "dead", invalidated?.sql ?? (keepsRows ? "clear" : "delete"), "what becomes of a token that APNs calls dead")
      ]
      + (invalidated.map { [HostMapping.Line("only", "\($0.sql) is null")] } ?? [])
      + active.map { HostMapping.Line("only", "\($0.sql) is not false") }
  }

  static func hasToken(_ table: HostTable) -> Bool {
    table.column(among: .tokens, where: \.isText) != nil || vague(table) != nil
  }

  private static func isNamed(_ table: HostTable) -> Bool {
    let name = NameKey.plain(table.name)
    return HostWords.devices.all.contains { name.contains($0) }
  }

  private static func vague(_ table: HostTable) -> HostColumn? {
    table.column(among: .vagueTokens) {
      $0.isText && (isNamed(table) || NameKey.plain($0.name) != "token")
    }
  }
}

/// What says which messages were read.
enum ReadGuess {
  /// - Parameter members: the likeliest.
  static func section(
    in schema: HostSchema, for messages: MessagesGuess, _ members: MembersGuess?
  ) -> HostMapping.Section {
    if let members, members.isTable, let marker = marker(of: members.table, in: messages) {
      return .init(.read, "marker \(marker)", "how far a member has read")
    }
    for table in schema.tables where table.isTable && table != members?.table && table != messages.table {
      guard !Set(NameKey.words(of: table.name)).isDisjoint(with: HostWords.reading.all) else { continue }
      if let section = receipts(table, messages) ?? state(table, messages) { return section }
    }
    let array = messages.table.column(among: .readers) { $0.type.hasPrefix("_") || $0.isJSON }
    if let array { return .init(.read, "array \(array.sql)") }
    let flag = messages.table.column(among: .readFlags) { $0.isFlag || $0.type.hasPrefix("timestamp") }
    if let flag, messages.conversation == nil || members?.isTable == false {
      return .init(.read, "flag \(flag.isRead)")
    }
    let reason = flag.map { "\($0.name) does not say who has read" } ?? "no column says what was read"
    let badge = members?.unread == nil ? ", and there is no badge" : ""
    return .init(.read, "none", "\(reason): a push comes although the message was read elsewhere\(badge)")
  }

  /// A time as in the messages, a number as one of theirs, or the id of a message: where ids do not grow, the time of that message.
  private static func marker(of table: HostTable, in messages: MessagesGuess) -> String? {
    func isComparable(_ column: HostColumn) -> Bool { column.isTime && column.type == messages.created?.type }
    if let time = table.column(among: .reads, where: isComparable), let created = messages.created {
      return "\(time.sql) >= \(created.sql)"
    }
    if let first = table.column(among: .firstUnread, where: isComparable), let created = messages.created {
      return "\(first.sql) > \(created.sql)"
    }
    if let id = table.reference(among: .readMessages, where: { $0.idType == messages.id.idType }) {
      if id.isInteger { return "\(id.sql) >= \(messages.id.sql)" }
      if let created = messages.created {
        return
          "(select x.\(created.sql) from \(messages.table.sql) x where x.\(messages.id.sql) = \(id.sql)) >= \(created.sql)"
      }
    }
    for column in table.columns where column.isInteger {
      let plain = NameKey.plain(column.name)
      guard let word = ["lastread", "read"].first(where: { plain.hasPrefix($0) }) else { continue }
      let place = messages.table.columns.first { $0.isInteger && NameKey.plain($0.name) == plain.dropFirst(word.count) }
      if let place { return "\(column.sql) >= \(place.sql)" }
    }
    guard let created = messages.created, let looked = table.column(among: .looks, where: isComparable) else {
      return nil
    }
    return "\(looked.sql) >= \(created.sql)"
  }

  /// A row for each message and reader.
  private static func receipts(_ table: HostTable, _ messages: MessagesGuess) -> HostMapping.Section? {
    let message = table.columns.first { column in
      table.refers(column, to: messages.table)
        || NameKey(column: column.name).text == "message" && table.reference(of: column.name) == nil
    }
    guard let message, message.idType == messages.id.idType, let user = reader(of: table, besides: message) else {
      return nil
    }
    let flag = table.column(among: .readFlags) { $0.isFlag || $0.type.hasPrefix("timestamp") && $0.isNullable }
    let only = flag.map { [HostMapping.Line("only", $0.isRead)] } ?? []
    return .init(.read, table.sql, nil, [.init("message", message.sql), .init("user", user.sql)] + only)
  }

  /// A row for each conversation and reader, with how far that one has read.
  private static func state(_ table: HostTable, _ messages: MessagesGuess) -> HostMapping.Section? {
    guard let conversation = messages.conversation, let marker = marker(of: table, in: messages) else { return nil }
    guard let place = table.column(like: conversation, of: messages.table), let user = reader(of: table, besides: place)
    else { return nil }
    return .init(
      .read, table.sql, nil, [.init("conversation", place.sql), .init("user", user.sql), .init("marker", marker)])
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
