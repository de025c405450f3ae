internal import Postgres
internal import PushRules

/// What `tacet init` proposes: by foreign keys, then by columns and samples of what is in them, then by names. What is not certain is
/// marked, and nobody takes part in a conversation because nothing says who does.
package struct HostProposal {
  let schema: HostSchema

  /// - Parameter role: the service's, where it is another than the tables' owner.
  /// - Throws: ``MappingFault`` where no table looks like messages, or one cannot serve.
  package static func mapping(of schema: HostSchema, role: String? = nil) throws(MappingFault) -> HostMapping {
    var sections = try HostProposal(schema: schema).sections()
    if let role { sections.append(ProposedSection(.role, role.quotedIdentifier)) }
    let mapping = try HostMapping(
      """
      # Which tables and columns play which part: read, edit, then tacet init --from this file.
      # Values are SQL; db/README.md lists the lines. Whoever marks a line with ? does not know.
      \(sections.flatMap(\.lines).joined(separator: "\n"))

      """)
    try schema.check(mapping)
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

  private func sections() throws(MappingFault) -> [ProposedSection] {
    let guesses = schema.tables.compactMap { MessagesGuess($0, schema) }.sorted { $0.score > $1.score }
    guard let messages = guesses.first else { throw MappingFault(0, refusal) }
    let users = UsersGuess.find(in: schema, for: messages)
    let members = MembersGuess.all(in: schema, for: messages, users?.table)
    return [
      messages.section(of: schema, besides: guesses.dropFirst(), users, members.first),
      section(members, messages, users),
      ReadGuess.section(in: schema, for: messages, members.first),
      users?.section ?? ProposedSection(.users, "none", "so pushes have no name of a sender"),
    ] + blocks(users?.id ?? messages.sender) + [devices(users, like: users?.id ?? messages.sender)]
  }

  /// What is missing, where nothing can hold the messages.
  private var refusal: String {
    let named = schema.tables.filter { NameKey($0.name).weight(among: .messages) > 2 && !$0.isAside }
    let lacks = named.prefix(3).map { schema.messagesFault($0) ?? "\($0.fullName) lacks \($0.lack)" }
    return """
      no table looks like messages: \(lacks.isEmpty ? "none has a key, a sender and a text" : lacks.joined(separator: "; ")). \
      Write tacet.host yourself: a line messages TABLE, under it id, conversation, sender and text, then members TABLE with \
      conversation and user, and run tacet init --from tacet.host. For what no line can say see db/CONTRACT.md.
      """
  }

  private func section(_ guesses: [MembersGuess], _ messages: MessagesGuess, _ users: UsersGuess?) -> ProposedSection {
    if messages.recipient != nil, messages.conversation == nil {
      return ProposedSection(.members, "recipient", "the sender and the recipient of a message are the conversation")
    }
    if let best = guesses.first { return best.section(besides: guesses.dropFirst(), users?.table) }
    let everyone = users.map { "; with everyone, \($0.table.everyone)" } ?? ""
    return ProposedSection(
      .members, "", "no table says who takes part: name one, or a view of yours\(everyone)", isUnsure: true)
  }

  private func blocks(_ user: HostColumn) -> [ProposedSection] {
    schema.blocks.compactMap { found in
      guard let table = schema.tables.first(where: { $0.schema == found.schema && $0.name == found.table }) else {
        return nil
      }
      guard let blocker = found.blocker.flatMap(table.column), let blocked = found.blocked.flatMap(table.column),
        blocker.idType == user.idType, blocked.idType == user.idType
      else {
        return ProposedSection(
          .blocks, table, doubt: "is not used: write its lines blocker and blocked, or delete this line")
      }
      var section = ProposedSection(.blocks, table, lines: ["blocker": blocker.sql, "blocked": blocked.sql])
      section.addShown(.block, besides: [blocker, blocked])
      return section
    }
  }

  private func devices(_ users: UsersGuess?, like id: HostColumn) -> ProposedSection {
    let guesses = schema.tables.compactMap { DevicesGuess($0, schema, users, like: id) }
    let best = guesses.min { ($1.score, $0.table.fullName) < ($0.score, $1.table.fullName) }
    return best?.section
      ?? ProposedSection(
        .devices, "own", "no table has tokens of APNs: the wiring makes one, and apps register with Tacet")
  }
}

/// The lines of a part, with why they are there.
struct ProposedSection {
  private(set) var lines: [String] = []
  /// What its lines say, by which a reader knows a column.
  private var said = ""
  private var table: HostTable?

  init(_ part: HostMapping.Part, _ value: String, _ comment: String? = nil, isUnsure: Bool = false) {
    add(part.rawValue, value, comment, isUnsure: isUnsure)
  }

  /// - Parameter doubt: what a person has to decide; nil where the table is certain.
  init(
    _ part: HostMapping.Part, _ table: HostTable, doubt: String? = nil, lines: KeyValuePairs<String, String> = [:]
  ) {
    self.init(part, table.sql, doubt ?? table.size, isUnsure: doubt != nil)
    self.table = table
    for (key, value) in lines { add(key, value) }
  }

  mutating func add(_ key: String, _ value: String, _ comment: String? = nil, isUnsure: Bool = false) {
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    let line = padded((isUnsure ? "? " : lines.isEmpty ? "" : "  ") + key, 14) + value
    lines.append(comment.map { "\(padded(line, 46))# \($0.onOneLine)" } ?? line)
    said += " \(value) \(comment ?? "")"
  }

  /// A column of the table, and why it is taken.
  mutating func add(_ key: String, _ column: HostColumn, doubt: String? = nil) {
    add(key, column.sql, doubt ?? table?.why(column), isUnsure: doubt != nil)
  }

  mutating func note(_ comment: String) {
    lines.append("  # \(comment.onOneLine)")
    said += comment
  }

  /// The conditions of the table, and what is there and plays no part, so that a reader sees what was passed over.
  mutating func addHiding(_ place: HidingColumn.Place, besides taken: [HostColumn?]) {
    guard let table else { return }
    addShown(place, besides: taken)
    let known = table.hiding.filter { $0.place == place && $0.before != nil }.map(\.name)
    let odd = table.hiding.filter { $0.place == place && $0.before == nil }.map(\.name)
    for column in table.columns where !taken.contains(column) && !known.contains(column.name) {
      let isState = place == .member && ["state", "status"].contains(where: NameKey.plain(column.name).hasSuffix)
      if isState || odd.contains(column.name) { addOdd(column, place) }
    }
    let names = table.columns.map(\.name).filter { !said.contains($0) }
    if place != .profile, !names.isEmpty { note("not used: \(names.prefix(12).joined(separator: ", "))") }
  }

  mutating func addShown(_ place: HidingColumn.Place, besides taken: [HostColumn?]) {
    for hiding in table?.hiding ?? [] where hiding.place == place {
      guard let before = hiding.before, let after = hiding.after, let column = table?.column(hiding.name),
        !taken.contains(column)
      else { continue }
      add(
        hiding.isWish == true ? "wants" : "only", "\(before)\(column.sql)\(after)",
        "\(column.name) \(hiding.words ?? "")")
    }
  }

  /// What looks as if it hid rows and is not understood. Of members it may say who has left, so it is asked about; a wish of theirs
  /// is not. A whole number called like a flag is one.
  private mutating func addOdd(_ column: HostColumn, _ place: HidingColumn.Place) {
    let plain = NameKey.plain(column.name)
    let isWish = HostWords.wishes.all.contains(where: plain.contains)
    if column.isInteger, plain.hasPrefix("is"), !plain.hasSuffix("active") {
      add("only", "coalesce(\(column.sql), 0) = 0", "\(column.name) is 0")
    } else if place == .member, isWish, column.isInteger, plain.hasSuffix("level") {
      add("wants", "coalesce(\(column.sql), 1) <> 0", "0 is taken for never")
    } else if place == .member, !isWish {
      let question = "\(column.name) may say who takes part: write the condition of those, or delete the line"
      add("only", "", question, isUnsure: true)
    } else {
      note("\(column.name) is not used: if it hides something, write a line only")
    }
  }
}

extension HostTable {
  /// About how many rows it has, where that says something.
  var size: String? { rows < 1000 ? nil : "about \(Int(rows)) rows" }

  /// What `everyone` means, of a table of users.
  var everyone: String { "every user of \(fullName) gets every message (now about \(Int(rows)))" }

  /// Why it is not certain, where others are as likely.
  func doubt(besides rivals: [HostTable]) -> String? {
    rivals.isEmpty ? nil : "or \(rivals.prefix(3).map(\.fullName).joined(separator: ", "))?"
  }

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
