internal import Postgres

/// Takes the best table for each need, or asks.
struct PlanFinder {
  /// A table that scores this much less than the best one is not asked about.
  private static let margin = 2
  /// A lower score for participants says nothing.
  private static let participantsMin = 5
  private static let choicesMax = 9

  private let schema: HostSchema
  private let answers: WiringAnswers

  init(_ schema: HostSchema, _ answers: WiringAnswers) {
    self.schema = schema
    self.answers = answers
  }

  /// A guess, and the names of others that are possible.
  typealias Found<Value> = (value: Value, others: [String])

  func messages() throws -> Found<MessagesGuess> {
    if let name = answers[.messages] {
      let table = try chosen(name, .messages)
      try refuseRecipient(in: table, users: nil)
      guard let guess = MessagesGuess(chosen: table) else {
        throw WiringProblem(
          "\(name) lacks what messages need: a key of one column (uuid, a whole number or text), a text, and columns that "
            + "name the conversation and the sender.")
      }
      return (try checked(guess), [])
    }
    let guesses = schema.tables.compactMap { MessagesGuess($0) }.sorted { $0.score > $1.score }
    if guesses.isEmpty {
      for table in schema.tables where NameKey(table.name).weight(among: HostWords.messages) > 0 {
        try refuseRecipient(in: table, users: nil)
      }
    }
    let best = try pick(
      guesses.map { ($0, $0.score, $0.table.fullName) }, .messages, "Which table holds the messages?",
      orElse: schema.tables.filter { MessagesGuess(chosen: $0) != nil }.map(\.fullName))
    return (try checked(best.value), best.others)
  }

  private func checked(_ guess: MessagesGuess) throws -> MessagesGuess {
    guard guess.table.isTable else {
      throw WiringProblem(
        "\(guess.table.fullName) is a view, and the trigger belongs to a table: name that with --messages.")
    }
    guard guess.id.name == "id" else {
      throw WiringProblem(
        "The key of \(guess.table.fullName) is \(guess.id.name), and the trigger reads a column id. Add one to the table "
          + "(id ... generated always as (\(guess.id.name.quotedIdentifier)) stored, and a unique index on it).")
    }
    return guess
  }

  /// Direct messages without conversations: a row that names the sender and the recipient. Read as a message of a conversation it
  /// would go to people whom it is not for.
  /// - Parameter users: where it is known.
  func refuseRecipient(in table: HostTable, users: HostTable?, conversation: HostColumn? = nil) throws {
    let recipient = table.columns.first { column in
      let key = NameKey(column: NameKey(column.name).text).text
      let isNamed = HostWords.recipients.contains(key) || HostWords.recipients.prefix(3).contains { key.hasSuffix($0) }
      guard let reference = table.reference(of: column.name) else {
        return isNamed && !schema.tables.contains { NameKey.words(of: $0.name).last == key }
      }
      let isOfUsers =
        users.map { reference.schema == $0.schema && reference.table == $0.name }
        ?? (NameKey(reference.table).weight(among: HostWords.users) > 0)
      return isOfUsers && (isNamed || column == conversation)
    }
    guard let recipient else { return }
    throw WiringProblem(
      """
      \(table.fullName).\(recipient.name) says who a message is for. tacet init wires conversations with participants, and would \
      show such a message to others. Write message_context and seen_by for it: "Direct messages in one row" in db/CONTRACT.md has \
      both.
      """)
  }

  /// The table of users; nil where the host has none that can be read.
  func users(_ messages: MessagesGuess) throws -> UsersGuess? {
    if answers[.users] == "none" { return nil }
    if let name = answers[.users] {
      guard let guess = UsersGuess(try chosen(name, .users), idType: nil) else {
        throw WiringProblem("\(name) has no key of one column that is a uuid, a whole number or text.")
      }
      return guess
    }
    if let reference = messages.table.reference(of: messages.sender.name) {
      // A schema that is not looked at, such as auth of Supabase.
      guard let target = schema.table(of: reference) else { return nil }
      if NameKey(target.name).weight(among: HostWords.users)
        >= NameKey(target.name).weight(among: HostWords.participants)
      {
        return UsersGuess(target, idType: IDType(messages.sender))
      }
    }
    let isIndirect = ["participation", "participant", "membership"].contains(NameKey(column: messages.sender.name).text)
    if isIndirect {
      return schema.tables.compactMap { UsersGuess($0, idType: nil) }
        .filter { NameKey($0.table.name).weight(among: HostWords.users) > 0 }
        .max { ($0.score, $1.table.fullName) < ($1.score, $0.table.fullName) }
    }
    return UsersGuess.find(in: schema, for: messages.sender, of: messages.table)
  }

  func otherSenders(_ messages: MessagesGuess) -> [UsersGuess] {
    schema.tables.filter { HostWords.otherSenders.contains(NameKey($0.name).text) }
      .compactMap { UsersGuess($0, idType: IDType(messages.sender)) }.filter { !$0.names.isEmpty }
  }

  func participants(_ messages: MessagesGuess, _ users: HostTable?) throws -> Found<WiringPlan.Participants> {
    let guesses = schema.tables.compactMap { ParticipantsGuess($0, of: messages, users: users) }
      .filter { $0.score >= Self.participantsMin }.sorted { $0.score > $1.score }
    let closed = guesses.first.map { "\($0.table.fullName) says who takes part" } ?? privacy(of: messages)
    if answers[.participants] == "everyone" {
      guard let users else { throw WiringProblem("Without a table of users (--users) not everyone can take part.") }
      if let closed {
        throw WiringProblem(
          "\(closed): with --participants everyone \(users.everyone). Name the table that says who takes part, or write "
            + "seen_by as db/CONTRACT.md shows.")
      }
      return (.everyone, [])
    }
    if let name = answers[.participants] {
      let table = try chosen(name, .participants)
      guard let guess = ParticipantsGuess(chosen: table, of: messages, users: users) else {
        if let pair = PairGuess(table, of: messages, users: users) { return (.pair(pair), []) }
        throw WiringProblem("\(name) lacks a column like \(messages.conversation.name), or one that names a user.")
      }
      return (.table(guess), [])
    }
    if guesses.isEmpty, let pair = PairGuess.find(in: schema, for: messages, users: users) { return (.pair(pair), []) }
    let others = schema.tables.filter {
      $0 != messages.table && ParticipantsGuess(chosen: $0, of: messages, users: users) != nil
    }
    let offered = closed == nil ? users : nil
    let best = try pick(
      guesses.map { ($0, $0.score, $0.table.fullName) }, .participants,
      "Which table says who takes part in a conversation?" + (offered.map { " With everyone, \($0.everyone)." } ?? ""),
      orElse: others.map(\.fullName) + (offered == nil ? [] : ["everyone"]))
    return (.table(best.value), best.others)
  }

  /// Why messages may be private; nil where everybody may enter the places that they are written in.
  private func privacy(of messages: MessagesGuess) -> String? {
    let column = messages.conversation
    let name = NameKey(column: column.name)
    let place =
      messages.table.reference(of: column.name).map(schema.table(of:))
      ?? schema.tables.first { NameKey($0.name) == name }
    guard let place else { return "no table says what \(messages.table.fullName).\(column.name) is" }
    guard HostWords.publicPlaces.contains(where: NameKey(place.name).text.hasSuffix) else {
      return "\(place.fullName) may be private"
    }
    let closed = place.columns.first { column in
      let name = NameKey.plain(column.name)
      // Who made a place says nothing of who may enter it.
      guard !HostWords.notParticipants.contains(NameKey(column: column.name).text) else { return false }
      return HostWords.privacyFlags.contains(name) || HostWords.privacy.contains(where: name.contains)
    }
    return closed.map { "\(place.fullName).\($0.name) says that some may be private" }
  }

  func devices(_ users: UsersGuess?, _ userType: IDType) throws -> WiringPlan.Devices {
    if answers[.devices] == "own" { return .own }
    if let name = answers[.devices] {
      guard let dot = name.lastIndex(of: "."), let table = schema.table(named: String(name[..<dot])),
        let token = table.column(String(name[name.index(after: dot)...])), token.isText,
        let guess = DevicesGuess(chosen: token, of: table, users: users, userType: userType)
      else {
        throw WiringProblem("--devices \(name) is no column of texts in a table that names a user.")
      }
      return .table(guess)
    }
    let guesses = schema.tables.compactMap { DevicesGuess($0, users: users, userType: userType) }
      .sorted { ($1.score, $0.fullName) < ($0.score, $1.fullName) }
    guard let best = guesses.first else { return .own }
    guard !best.isSure else { return .table(best) }
    throw WiringQuestion(
      subject: .devices, text: "Which column holds device tokens of APNs? With own the wiring makes a table for them.",
      choices: guesses.prefix(Self.choicesMax).map(\.fullName) + ["own"])
  }

  func kinds(of kind: HostColumn, in table: HostTable) throws -> [RowCondition] {
    guard let answer = answers[.messageKinds] else {
      throw WiringQuestion(
        subject: .messageKinds,
        text: """
          \(table.fullName).\(kind.name) is a number. Which values have messages that people write, separated by commas? \
          The others are not pushed.
          """, choices: ["all"])
    }
    if answer == "all" { return [] }
    let numbers = answer.split(separator: ",").map { Int32($0.filter { $0 != " " }) }
    guard !numbers.isEmpty, !numbers.contains(nil) else {
      throw WiringProblem("--message-kinds takes numbers separated by commas, or all.")
    }
    return [RowCondition(column: kind, test: .isOneOf(numbers.compactMap { $0.map(Int.init) }))]
  }

  /// Tables of blocks, and what looks as if it hid something in the tables of the plan and is not used.
  func hidden(
    _ messages: MessagesGuess, _ participants: WiringPlan.Participants, _ users: UsersGuess?, _ userType: IDType
  ) -> (blocks: [WiringPlan.Blocks], unused: [String]) {
    var blocks: [WiringPlan.Blocks] = []
    var unused: [String] = []
    func add(_ place: HidingColumn.Place, of table: HostTable?, besides used: [HostColumn?]) {
      let names = used.compactMap { $0?.name }
      let left = table?.hiding.filter { $0.place == place && $0.before == nil && !names.contains($0.name) } ?? []
      unused += left.map { "\($0.schema).\($0.table).\($0.name)" }
    }
    add(.message, of: messages.table, besides: [messages.conversation, messages.sender, messages.kindNumber])
    if case .table(let members) = participants {
      add(.member, of: members.table, besides: [members.conversation, members.user, members.looked, members.leftAt])
    }
    add(.profile, of: users?.table, besides: [users?.zone])
    for found in schema.blocks {
      guard let table = schema.tables.first(where: { $0.schema == found.schema && $0.name == found.table }) else {
        continue
      }
      if let blocker = found.blocker.flatMap(table.column), let blocked = found.blocked.flatMap(table.column),
        IDType(blocker) == userType, IDType(blocked) == userType
      {
        blocks.append(WiringPlan.Blocks(table: table, blocker: blocker, blocked: blocked))
      } else {
        unused.append(table.fullName)
      }
    }
    return (blocks, unused)
  }

  func types(
    _ messages: MessagesGuess, _ participants: WiringPlan.Participants, _ users: UsersGuess?
  ) throws -> (IDType, IDType, IDType) {
    var members: ParticipantsGuess?
    if case .table(let guess) = participants { members = guess }
    let isIndirect = members.map(messages.isSent(through:)) ?? false
    let user = users?.id ?? members?.user ?? messages.sender
    guard let message = IDType(messages.id), let conversation = IDType(messages.conversation), let type = IDType(user)
    else {
      throw WiringProblem("Ids must be uuid, whole numbers or text.")
    }
    var pair: [HostColumn] = []
    if case .pair(let guess) = participants { pair = guess.users }
    let others = pair + [members?.user, isIndirect ? nil : messages.sender].compactMap { $0 }
    for other in others where IDType(other) != type {
      throw WiringProblem(
        "\(other.name) is \(other.type), and users have ids of type \(user.type): name the table of users with --users."
      )
    }
    return (message, conversation, type)
  }

  /// The first guess, unless the second is as likely.
  private func pick<Value>(
    _ guesses: [(value: Value, score: Int, name: String)], _ subject: WiringQuestion.Subject, _ text: String,
    orElse others: [String]
  ) throws -> Found<Value> {
    let names = guesses.map(\.name)
    guard let best = guesses.first else {
      guard !others.isEmpty else {
        throw WiringProblem(
          "There is no table that could hold \(subject.rawValue): see db/CONTRACT.md, and write the functions.")
      }
      throw WiringQuestion(subject: subject, text: text, choices: Array(others.prefix(Self.choicesMax)))
    }
    if guesses.count > 1, guesses[1].score > best.score - Self.margin {
      throw WiringQuestion(subject: subject, text: text, choices: Array(names.prefix(Self.choicesMax)))
    }
    return (best.value, Array(names.dropFirst().prefix(3)))
  }

  private func chosen(_ name: String, _ subject: WiringQuestion.Subject) throws -> HostTable {
    guard let table = schema.table(named: name) else {
      throw WiringProblem("--\(subject.rawValue) \(name): there is no such table.")
    }
    return table
  }
}
