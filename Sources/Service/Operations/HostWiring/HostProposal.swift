internal import Postgres

/// What `tacet init` proposes: by foreign keys, then by names and types of columns. What is not certain is marked, and nobody takes part
/// in a conversation because nothing says who does.
package struct HostProposal {
  let schema: HostSchema
  let messages: Guess
  let users: Guess?
  /// A user's.
  let id: HostColumn

  /// - Parameter role: the service's, where it is another than the tables' owner.
  /// - Throws: ``MappingFault`` where no table looks like messages, or one cannot serve.
  package static func mapping(of schema: HostSchema, role: String? = nil) throws(MappingFault) -> HostMapping {
    let found = Guess.best(schema.tables.compactMap(schema.messages))
    guard let found, let sender = found.columns["sender"] else { throw MappingFault(0, schema.refusal) }
    let users = Guess.best(schema.tables.compactMap { schema.users($0, for: found, sender) })
    let proposal = HostProposal(schema: schema, messages: found, users: users, id: users?.columns["id"] ?? sender)
    let lines = proposal.lines + (role.map { [Guess.line("role", $0.quotedIdentifier, nil)] } ?? [])
    let mapping = try HostMapping(
      """
      # Which tables and columns play which part: read, edit, then tacet init --from this file.
      # Values are SQL; db/README.md lists the lines. Whoever marks a line with ? does not know.
      \(lines.joined(separator: "\n"))

      """)
    try schema.check(mapping)
    return mapping
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
    let everyone = users.map { users in
      "; with everyone, every user of \(users.table.fullName) gets every message (now about \(Int(users.table.rows)))"
    }
    let question = "no table says who takes part: name one, or a view of yours\(everyone ?? "")"
    return [Guess.line("members", "", question, isUnsure: true)]
  }

  private func blocks(_ found: BlockTable) -> Guess? {
    guard let table = schema.table(named: "\(found.schema).\(found.table)") else { return nil }
    let columns = [found.blocker, found.blocked].map { $0.flatMap(table.column(_:)) }
    let isKnown = columns.allSatisfy { $0?.idType == id.idType }
    let doubt = "is not used: write its lines blocker and blocked, or delete this line"
    var guess = Guess(.blocks, table, doubt: isKnown ? nil : doubt)
    for (key, column) in zip(["blocker", "blocked"], columns) { guess.add(key, column) }
    guess.addHiding(schema)
    return guess
  }
}
