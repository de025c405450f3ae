internal import Postgres

/// What a row must be like to count: a deleted message, a private note or a muted member does not.
struct RowCondition: Equatable, Sendable {
  enum Test: Equatable, Sendable {
    /// A condition in SQL around the column, and its words.
    case shows(before: String, after: String, words: String)
    case isKnown
    case isOneOf([Int])
    /// The class of a polymorphic reference, as Rails and Laravel write it.
    case isClass(String)
  }

  let column: HostColumn
  let test: Test
  /// Whether a row that does not count still is one of a member, who only wants no push.
  var isWish = false

  /// - Parameter row: the alias of the table.
  func sql(_ row: String) -> String {
    let value = "\(row).\(column.name.quotedIdentifier)"
    switch test {
    case .shows(let before, let after, _): return "\(before)\(value)\(after)"
    case .isKnown: return "\(value) is not null"
    case .isOneOf(let numbers): return "\(value) in (\(numbers.map(String.init).joined(separator: ", ")))"
    case .isClass(let name): return "\(value) like \("%\(name)".quotedLiteral)"
    }
  }

  /// For the summary.
  var words: String {
    switch test {
    case .shows(_, _, let words): "\(column.name) \(words)"
    case .isKnown: "\(column.name) is known"
    case .isOneOf(let numbers): "\(column.name) is \(numbers.map(String.init).joined(separator: " or "))"
    case .isClass(let name): "\(column.name) is \(name)"
    }
  }

  /// Of rows that the host does not hide.
  static func shown(_ place: HidingColumn.Place, in table: HostTable, besides taken: [HostColumn?] = [])
    -> [RowCondition]
  {
    table.hiding.compactMap { hiding in
      guard hiding.place == place, let before = hiding.before, let after = hiding.after,
        let column = table.column(hiding.name), !taken.contains(column)
      else { return nil }
      return RowCondition(
        column: column, test: .shows(before: before, after: after, words: hiding.words ?? ""),
        isWish: hiding.isWish ?? false)
    }
  }

  /// A time that is not set.
  static func unset(_ column: HostColumn?) -> [RowCondition] {
    column.map { [RowCondition(column: $0, test: .shows(before: "", after: " is null", words: "is not set"))] } ?? []
  }

  /// Columns that must not be null, where they may be.
  static func known(_ columns: HostColumn...) -> [RowCondition] {
    columns.filter(\.isNullable).map { RowCondition(column: $0, test: .isKnown) }
  }

  /// Flags that must not be false.
  static func flags(_ words: [String], in table: HostTable) -> [RowCondition] {
    table.columns.filter { $0.isFlag && words.contains(NameKey.plain($0.name)) }.map {
      RowCondition(column: $0, test: .shows(before: "", after: " is not false", words: "is true"))
    }
  }
}
