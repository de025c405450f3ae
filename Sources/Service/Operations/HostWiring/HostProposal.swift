internal import Postgres

/// What `tacet init` proposes: by foreign keys, then by names and types of columns. What is not certain is marked, and nobody takes part
/// in a conversation because nothing says who does.
package struct HostProposal {
  let schema: HostSchema
  let messages: Guess
  let sender: HostColumn
  let users: Guess?
  /// A user's.
  var id: HostColumn { users?.columns["id"] ?? sender }

  /// - Parameter role: the service's, where it is another than the tables' owner.
  /// - Throws: ``MappingFault`` where no table looks like messages, or one cannot serve.
  package static func mapping(of schema: HostSchema, role: String? = nil) throws(MappingFault) -> HostMapping {
    let role = role.map { [Guess.line("role", $0.quotedIdentifier, nil)] } ?? []
    let lines = try HostProposal(schema).lines + role
    if let broken = lines.first(where: { $0.contains(where: \.isNewline) }) {
      throw MappingFault(0, "a line of a mapping cannot hold a name with a line break: \(broken.onOneLine)")
    }
    let mapping = try HostMapping(
      """
      # Which tables and columns play which part: read, edit, then tacet init --from this file.
      # Values are SQL; db/README.md lists the lines. Whoever marks a line with ? does not know.
      \(lines.joined(separator: "\n"))

      """)
    try schema.check(mapping)
    return mapping
  }

  private init(_ schema: HostSchema) throws(MappingFault) {
    let messages = Guess.best(schema.tables.compactMap(schema.messages))
    guard let messages, let sender = messages.columns["sender"] else { throw MappingFault(0, schema.refusal) }
    (self.schema, self.messages, self.sender) = (schema, messages, sender)
    users = Guess.best(schema.tables.compactMap { schema.users($0, for: messages, sender) })
  }

  private var lines: [String] {
    let members = self.members
    let noUsers = Guess.line("users", "none", "so pushes have no name of a sender")
    let own = "no table has tokens of APNs: the wiring makes one, and apps register with Tacet"
    let tokens = Guess.best(schema.tables.compactMap(devices))?.lines ?? [Guess.line("devices", "own", own)]
    let parts = [messages.lines, members?.lines ?? wordOfMembers, read(members), users?.lines ?? [noUsers]]
    return (parts + schema.blocks.compactMap(blocks).map(\.lines) + [tokens]).flatMap { $0 }
  }

  private var wordOfMembers: [String] {
    if messages.columns["conversation"] == nil, messages.columns["recipient"] != nil {
      return [Guess.line("members", "recipient", "the sender and the recipient of a message are the conversation")]
    }
    let everyone = users.map { "; with everyone, \($0.table.everyone)" } ?? ""
    let question = "no table says who takes part: name one, or a view of yours\(everyone)"
    return [Guess.line("members", "", question, isUnsure: true)]
  }

  private func blocks(_ found: BlockTable) -> Guess? {
    guard let table = schema.tables.first(where: { ($0.schema, $0.name) == (found.schema, found.table) }) else {
      return nil
    }
    let columns = [found.blocker, found.blocked].compactMap { $0.flatMap(table.column(_:)) }
    guard columns.filter({ $0.idType == id.idType }).count == 2 else {
      return Guess(.blocks, table, doubt: "is not used: write its lines blocker and blocked, or delete this line")
    }
    var guess = Guess(.blocks, table)
    for (key, column) in zip(["blocker", "blocked"], columns) { guess.add(key, column) }
    guess.addHiding(.block, schema)
    return guess
  }
}

extension HostMapping {
  /// Whether a proposal is of the tables of the default contract, which `tacet migrate` wires alone.
  package var isDefault: Bool {
    let heads = [Part.messages, .members, .users, .devices].map { self[$0].head.value }
    let tables = ["messages", "conversation_participants", "profiles", "push_tokens"].map { "public.\($0)" }
    return heads == tables && self[.messages].value("sender") == "from_id"
  }
}

extension HostSchema {
  /// What is missing, where nothing can hold the messages.
  fileprivate var refusal: String {
    let named = tables.filter { $0.weight(among: .messages) > 2 }
    let lacks = named.prefix(3).map { table in
      let lack = table.sender == nil ? "a sender" : "a conversation, a recipient and a text"
      return messagesFault(table) ?? "\(table.fullName) lacks \(lack)"
    }
    return """
      no table looks like messages: \(lacks.isEmpty ? "none has a key, a sender and a text" : lacks.joined(separator: "; ")). \
      Write tacet.host yourself: a line messages TABLE, under it conversation, sender and text, then members TABLE with \
      conversation and user, and run tacet init --from tacet.host. For what no line can say see db/CONTRACT.md.
      """
  }
}

extension HostTable {
  /// What `everyone` means, of a table of users.
  var everyone: String { "every user of \(fullName) gets every message (now about \(Int(rows)))" }
}
