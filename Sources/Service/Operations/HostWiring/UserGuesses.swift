extension HostSchema {
  /// The table that the sender refers to, or that is called so; else one that is called like users.
  func users(_ table: HostTable, for messages: Guess, _ sender: HostColumn) -> Guess? {
    let weight = table.weight(among: .users)
    let key = messages.table.namesMember(sender) ? nil : messages.table.reference(of: sender)
    let isCalledSo = NameKey(table.name) == NameKey(column: sender.name) && !table.isAside
    // Where the key leads into a schema that is not looked at, such as Supabase's auth, the table whose own key leads there too.
    let own = table.references.first {
      ($0.schema, $0.table) == (key?.schema, key?.table) && table.isUnique([$0.column])
    }
    let isBeside = own != nil && weight > 0 && key.flatMap(self.table(of:)) == nil
    guard key.map({ $0.isTo(table) || isBeside }) ?? (isCalledSo || weight > 0),
      let id = isBeside ? own.flatMap({ table.column($0.column) }) : table.key, id.idType == sender.idType
    else { return nil }
    let personName = table.personName
    let score = weight + (isCalledSo ? 20 : 0) + (personName == nil ? 0 : 2)
    var guess = Guess(.users, table, score: key == nil ? score : max(score, 1))
    guess.add("id", id)
    if let personName { guess.add("name", personName) }
    if personName == nil { guess.note("no column is a name, so pushes have none; a line name may be an expression") }
    guess.add("zone", table.column(among: .zones, where: \.isText))
    guess.addHiding(self)
    return guess
  }
}

extension HostProposal {
  /// A table that may hold device tokens of APNs; nil for one without a token and a user, or whose tokens are probably others.
  func devices(_ table: HostTable) -> Guess? {
    let isOfDevices = HostWords.devices.all.contains(where: NameKey.plain(table.name).contains)
    let clear = table.column(among: .tokens, where: \.isText)
    // The id of a device that the application gives is with others a key of some table.
    let keys = schema.tables.flatMap(\.indexes).filter { $0.isUnique && $0.columns.count > 1 }.flatMap(\.columns)
    let vague = table.column(among: .vagueTokens) { column in
      let name = NameKey.plain(column.name)
      return column.isText && (isOfDevices || name != "token") && (name != "deviceid" || !keys.contains(column.name))
    }
    guard let token = clear ?? vague else { return nil }
    let isOfUsers = users?.table == table
    let other = table.person(among: .memberColumns, keyed: table.users) { $0.idType == id.idType && $0 != token }
    guard let user = isOfUsers ? id : other?.column else { return nil }
    let doubt = "its \(token.name) may be no token of APNs; with own the wiring makes a table"
    // A token has 64 digits or more.
    let named = clear != nil ? 9 : token.width ?? 64 < 64 ? 2 : 4
    let score = named + (isOfDevices ? 6 : 0) - (table.isAside ? 8 : 0)
    var guess = Guess(.devices, table, score: score, doubt: score >= 9 ? nil : doubt)
    guess.add("user", user)
    guess.add("token", token)
    guess.add("platform", table.column(among: .platforms, where: \.isText))
    guess.add("app", table.column(among: .apps, where: \.isText))
    guess.add("environment", table.column(among: .environments) { $0.isText || $0.isFlag })
    guess.add("registered", table.column(among: .registered, where: \.isTime))
    // Where the token is a key, a row is a device whatever the table is called, and two cannot lose theirs alone.
    let keepsRows = isOfUsers || !isOfDevices && !table.isUnique([token.name])
    let invalidated = table.column(among: .invalid) { $0.type.hasPrefix("timestamp") }
    guess.add(
      "dead", invalidated?.sql ?? (keepsRows ? "clear" : "delete"), "what becomes of a token that APNs calls dead")
    guess.add("only", invalidated, as: invalidated.map { "\($0.sql) is null" })
    for flag in table.columns(among: .existing, where: \.isFlag) {
      guess.add("only", flag, as: "\(flag.sql) is not false")
    }
    return guess
  }
}

extension HostTable {
  /// A whole name, else its parts, else what a user is called by; two of these where the first may be empty.
  fileprivate var personName: String? {
    let parts = [HostWords.firstNames, .lastNames].compactMap { column(among: $0, where: \.isText)?.sql }
    let names =
      columns(among: .wholeNames, where: \.isText).map(\.sql)
      + (parts.count == 2 ? ["btrim(concat_ws(' ', \(parts[0]), \(parts[1])))"] : [])
      + columns(among: .names, where: \.isText).map(\.sql)
    return names.count > 1 ? "coalesce(nullif(\(names[0]), ''), \(names[1]))" : names.first
  }
}
