/// What a row must be like to count: a deleted message, a private note or a muted member does not.
struct RowCondition: Equatable, Sendable {
  enum Test: Equatable, Sendable {
    case isTrue
    case isNotTrue
    /// Null, or zero where the column is a number.
    case isUnset
    case isKnown
    /// No text that begins like the kinds that applications give to what they write themselves.
    case isNoSystemKind
    case isOneOf([Int])
    /// The class of a polymorphic reference, as Rails and Laravel write it.
    case isClass(String)
  }

  let column: HostColumn
  let test: Test

  /// - Parameter row: the alias of the table.
  func sql(_ row: String) -> String {
    let value = "\(row).\(column.name.quotedIdentifier)"
    switch test {
    case .isTrue: return column.isNullable ? "\(value) is not false" : value
    case .isNotTrue: return column.isNullable ? "\(value) is not true" : "not \(value)"
    case .isUnset where !column.type.hasPrefix("timestamp"):
      return column.isNullable ? "coalesce(\(value), 0) = 0" : "\(value) = 0"
    case .isUnset: return "\(value) is null"
    case .isKnown: return "\(value) is not null"
    case .isNoSystemKind: return "coalesce(\(value)::text, '') !~* '^(system|activity|event|notice)'"
    case .isOneOf(let numbers): return "\(value) in (\(numbers.map(String.init).joined(separator: ", ")))"
    case .isClass(let name): return "\(value) like \("%\(name)".quotedLiteral)"
    }
  }

  /// For the summary.
  var words: String {
    switch test {
    case .isTrue: "\(column.name) is true"
    case .isNotTrue: "\(column.name) is not true"
    case .isUnset: "\(column.name) is not set"
    case .isKnown: "\(column.name) is known"
    case .isNoSystemKind: "\(column.name) is no system kind"
    case .isOneOf(let numbers): "\(column.name) is \(numbers.map(String.init).joined(separator: " or "))"
    case .isClass(let name): "\(column.name) is \(name)"
    }
  }

  /// A flag that says yes, a time that is set, or a number that is not zero: the row is gone.
  static func notGone(_ column: HostColumn?) -> [RowCondition] {
    column.map { [RowCondition(column: $0, test: $0.isFlag ? .isNotTrue : .isUnset)] } ?? []
  }

  /// Columns that must not be null, where they may be.
  static func known(_ columns: HostColumn...) -> [RowCondition] {
    columns.filter(\.isNullable).map { RowCondition(column: $0, test: .isKnown) }
  }

  static func flags(_ words: [String], in table: HostTable, _ test: Test) -> [RowCondition] {
    table.columns.filter { $0.isFlag && words.contains(NameKey.plain($0.name)) }.map {
      RowCondition(column: $0, test: test)
    }
  }
}
