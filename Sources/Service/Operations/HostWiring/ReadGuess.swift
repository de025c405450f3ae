extension HostProposal {
  /// What says which messages were read.
  func read(_ members: Guess?) -> [String] {
    // The conversations themselves have no lines of one member.
    let list = members?.table.key == members?.columns["conversation"] ? nil : members?.table
    if let list, let marker = marker(of: list) {
      return [Guess.line("read", "marker \(marker)", "how far a member has read")]
    }
    // The words of the messages' own name say nothing of a table beside them.
    let words = Set(HostWords.reading.all).subtracting(NameKey.words(of: messages.table.name))
    let others = schema.tables.filter { $0.isTable && $0 != list && $0 != messages.table }
    let named = others.filter { !words.isDisjoint(with: NameKey.words(of: $0.name)) }
    if let guess = named.lazy.compactMap(reads).first { return guess.lines }
    if let array = messages.table.column(among: .readers, where: { $0.type.hasPrefix("_") || $0.isJSON }) {
      return [Guess.line("read", "array \(array.sql)", nil)]
    }
    let flag = messages.table.column(among: .readFlags) { $0.isFlag || $0.type.hasPrefix("timestamp") }
    if let flag, messages.columns["conversation"] == nil || members != nil && list == nil {
      return [Guess.line("read", "flag \(flag.isSet)", nil)]
    }
    let reason = flag.map { "\($0.name) does not say who has read" } ?? "no column says what was read"
    let meaning = "a push comes although the message was read elsewhere, and only a counter makes a badge"
    return [Guess.line("read", "none", "\(reason): \(meaning)")]
  }

  /// A time as in the messages; a number as one of theirs; the id of a message, where ids do not grow the time of that one; a time at
  /// which a member looked.
  private func marker(of table: HostTable) -> String? {
    let written = messages.columns["written"]
    func time(_ list: HostWords, _ sign: String = ">=") -> String? {
      let time = table.column(among: list) { $0.isTime && $0.type == written?.type }
      return time.flatMap { time in written.map { "\(time.sql) \(sign) \($0.sql)" } }
    }
    if let marker = time(.reads) ?? time(.firstUnread, ">") { return marker }
    if let id = messages.table.messageKey,
      let read = table.reference(among: .readMessages, where: { $0.idType == id.idType })
    {
      if read.isInteger { return "\(read.sql) >= \(id.sql)" }
      let message = "from \(messages.table.sql) x where x.\(id.sql) = \(read.sql)"
      if let written { return "(select x.\(written.sql) \(message)) >= \(written.sql)" }
    }
    let prefixes = ["lastread", "read", NameKey.words(of: messages.table.name).last ?? ""]
    for place in messages.table.columns where place.isInteger && place != messages.table.messageKey {
      let names = prefixes.map { $0 + NameKey.plain(place.name) }
      let read = table.columns.first { $0.isInteger && names.contains(NameKey.plain($0.name)) }
      if let read { return "\(read.sql) >= \(place.sql)" }
    }
    return time(.looks)
  }

  /// A row for each message and reader, or for each conversation and reader with how far that one has read.
  private func reads(in table: HostTable) -> Guess? {
    let message = table.columns.first { column in
      let isCalledSo = NameKey(column: column.name).text == "message" && table.reference(of: column) == nil
      return column.idType == messages.table.messageKey?.idType
        && (isCalledSo || table.refers(column, to: messages.table))
    }
    let place = messages.columns["conversation"].flatMap { table.column(like: $0, of: messages.table) }
    let marker = message == nil ? self.marker(of: table) : nil
    guard let subject = message ?? place, message != nil || marker != nil,
      let user = table.person(among: .memberColumns, keyed: table.users, where: { $0.idType != nil && $0 != subject })
    else { return nil }
    var guess = Guess(.read, table)
    guess.add(message == nil ? "conversation" : "message", subject)
    guess.add("user", user.column)
    if let marker { guess.add("marker", marker) }
    let flag = table.column(among: .readFlags) { $0.isFlag || $0.type.hasPrefix("timestamp") && $0.isNullable }
    if message != nil { guess.add("only", flag, as: flag?.isSet) }
    return guess
  }
}
