internal import Synchronization

/// The columns of a result that are read, each a case named like its column in camel case: `readMessageIDs` is
/// `read_message_ids`.
package protocol PostgresColumn: RawRepresentable<Int>, CaseIterable, Sendable {}

/// Where the results of one statement have their columns.
///
/// Looked up by name in the first result and kept, for rows that are read too often to compare names each time. Make one for
/// each statement, as a static value: another statement may have the same columns in another order.
package final class PostgresColumns<Column: PostgresColumn>: Sendable {
  private let places = Mutex<[Int]>([])
  private let constants: Set<Int>

  /// Knows nothing before the first result.
  /// - Parameter constants: columns that the statement leaves out, because all its rows have the same value. They are read as
  ///   null. libpq takes some 700 instructions for the description of a column, with every result.
  package init(without constants: [Column] = []) {
    self.constants = Set(constants.map(\.rawValue))
  }

  /// The places of the columns, in the order of the cases' raw values, which count from 0.
  /// - Throws: ``PostgresError/Code/decoding`` where the statement has no column of a case's name and does not leave it out.
  package func places(in rows: PostgresRows) throws(PostgresError) -> [Int] {
    let known = places.withLock { $0 }
    if !known.isEmpty { return known }
    var found: [Int] = []
    for column in Column.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
      let isLeftOut = constants.contains(column.rawValue)
      found.append(isLeftOut ? PostgresRow.leftOut : try rows.place(of: Self.name(of: column)))
    }
    places.withLock { $0 = found }
    return found
  }

  /// A capital letter begins a word, except inside a word of capitals.
  private static func name(of column: Column) -> String {
    var name = ""
    var wasCapital = false
    for letter in "\(column)" {
      if letter.isUppercase, !wasCapital { name += "_" }
      name += letter.lowercased()
      wasCapital = letter.isUppercase
    }
    return name
  }
}

extension PostgresRow {
  fileprivate static let leftOut = -1

  /// Reads the column at one of the ``PostgresColumns/places(in:)``.
  /// - Throws: ``PostgresError/Code/decoding`` as for a name; a column that the statement leaves out needs an optional too.
  package func decode<Value: PostgresDecodable>(at place: Int) throws(PostgresError) -> Value {
    if place == Self.leftOut, let null = Value(PostgresField(bytes: nil, type: .text)) { return null }
    return try decode(place)
  }
}

extension PostgresRows {
  fileprivate func place(of column: String) throws(PostgresError) -> Int {
    guard let place = result.column(named: column) else {
      throw PostgresError(.decoding, "there is no column \(column)")
    }
    return place
  }
}
