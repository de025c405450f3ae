/// A table that may hold device tokens of APNs, with the columns that are read.
package struct DevicesGuess: Equatable, Sendable {
  let table: HostTable
  let user: HostColumn
  let token: HostColumn
  let platform: HostColumn?
  let app: HostColumn?
  let environment: HostColumn?
  let registered: HostColumn?
  /// Set when a token is dead; else the row goes, or the token alone where the table is no table of devices.
  let invalidated: HostColumn?
  let keepsRows: Bool
  let conditions: [RowCondition]
  let score: Int

  /// As an answer names it.
  var fullName: String { "\(table.fullName).\(token.name)" }

  /// Whether it is taken without asking.
  var isSure: Bool { score >= 9 }

  /// Nil for a table without a token and a user, or whose tokens are probably others.
  init?(_ table: HostTable, users: UsersGuess?, userType: IDType) {
    let words = NameKey.plain(table.name)
    let isNamed = HostWords.devices.contains { words.contains($0) }
    let clear = table.column(among: HostWords.tokens, where: \.isText)
    let vague = table.column(among: HostWords.vagueTokens) {
      $0.isText && (isNamed || NameKey.plain($0.name) != "token")
    }
    guard let token = clear ?? vague else { return nil }
    self.init(
      table, users: users, userType: userType, token: token,
      score: (clear == nil ? 4 : 9) + (isNamed ? 6 : 0) - (table.isAside ? 8 : 0), isNamed: isNamed)
  }

  /// A column that an operator has named.
  init?(chosen token: HostColumn, of table: HostTable, users: UsersGuess?, userType: IDType) {
    let isNamed = HostWords.devices.contains { NameKey.plain(table.name).contains($0) }
    self.init(table, users: users, userType: userType, token: token, score: 9, isNamed: isNamed)
  }

  private init?(
    _ table: HostTable, users: UsersGuess?, userType: IDType, token: HostColumn, score: Int, isNamed: Bool
  ) {
    let isOfUsers = users?.table == table
    guard
      let user = isOfUsers
        ? users?.id
        : table.reference(among: HostWords.members, where: { IDType($0) == userType && $0.name != token.name }),
      score > 0
    else { return nil }
    self.table = table
    self.user = user
    self.token = token
    self.score = score
    platform = table.column(among: HostWords.platforms, where: \.isText)
    app = table.column(among: HostWords.apps, where: \.isText)
    environment =
      table.column(among: HostWords.environments, where: \.isText)
      ?? table.column(among: HostWords.sandboxes, where: \.isFlag)
    registered = table.column(among: HostWords.registered, where: \.isTime)
    invalidated = table.column(among: HostWords.invalid) { $0.type.hasPrefix("timestamp") }
    // Where the token is a key, a row is a device whatever the table is called, and two cannot lose theirs alone.
    keepsRows = isOfUsers || !isNamed && !table.isUnique([token.name])
    conditions = RowCondition.unset(invalidated) + RowCondition.flags(HostWords.existing, in: table)
  }
}
