internal import CLibpq
internal import Glibc
internal import Synchronization

/// The result of a statement: its rows in order, and the number of rows it affected.
/// Shape: empty for a statement without rows, such as an `update` without `returning`.
package struct PostgresRows: RandomAccessCollection, Sendable {
  let result: ResultHandle

  package var startIndex: Int { 0 }

  package var endIndex: Int { result.rowCount }

  package subscript(index: Int) -> PostgresRow {
    precondition(index >= 0 && index < result.rowCount, "row \(index) of \(result.rowCount)")
    return PostgresRow(result: result, index: index)
  }

  /// Rows inserted, updated, deleted or selected, by the server's command tag; 0 for other commands.
  package var affectedCount: Int { result.affectedCount }

  /// The only row.
  /// - Throws: ``PostgresError/Code/decoding`` unless there is exactly one.
  package func one() throws(PostgresError) -> PostgresRow {
    guard count == 1 else { throw PostgresError(.decoding, "\(count) rows where one was expected") }
    return self[0]
  }

  /// Reads each row as ``PostgresRow/decoded(as:)`` does.
  package func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(PostgresError) -> [Value] {
    try map { row throws(PostgresError) in try row.decoded() }
  }
}

/// The one owner of a libpq result.
/// Unchecked because it holds a C pointer. Safe: a result is read-only, libpq's manual (section 34.20, "Behavior in Threaded
/// Programs") allows any thread to read it, and the last owner frees it once.
final class ResultHandle: @unchecked Sendable {
  private let result: OpaquePointer?
  let rowCount: Int

  init(owning result: OpaquePointer?) {
    self.result = result
    rowCount = Int(PQntuples(result))
  }

  deinit { PQclear(result) }

  var affectedCount: Int {
    guard let text = PQcmdTuples(result) else { return 0 }
    return Int(String(cString: text)) ?? 0
  }

  var columnCount: Int { Int(PQnfields(result)) }

  func columnName(_ column: Int) -> String { PQfname(result, Int32(column)).map { String(cString: $0) } ?? "?" }

  func type(of column: Int) -> PostgresType { PostgresType(oid: PQftype(result, Int32(column))) }

  /// The first column with this exact name. `PQfnumber` would fold case.
  func column(named name: String) throws(PostgresError) -> Int {
    let place = name.withCString { wanted in
      (0..<PQnfields(result)).first { strcmp(PQfname(result, $0), wanted) == 0 }
    }
    guard let place else { throw PostgresError(.decoding, "there is no column \(name)") }
    return Int(place)
  }

  /// The field in libpq's memory, valid as long as this object.
  func field(row: Int, column: Int) -> PostgresField {
    let (row, column) = (Int32(row), Int32(column))
    let isNull = PQgetisnull(result, row, column) == 1
    return PostgresField(
      bytes: isNull
        ? nil
        : UnsafeRawBufferPointer(
          start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column))),
      type: PostgresType(oid: PQftype(result, column)))
  }
}

package struct PostgresRow: Sendable {
  let result: ResultHandle
  let index: Int

  /// Reads the column with this exact name.
  ///
  /// ```swift
  /// let badge = try row.decode("badge", as: Int?.self)
  /// let tokens: [String] = try row.decode("tokens")
  /// ```
  /// - Throws: ``PostgresError/Code/decoding`` with the column, its type and the Swift type. A null needs an optional.
  package func decode<Value: PostgresDecodable>(
    _ column: String, as type: Value.Type = Value.self
  ) throws(PostgresError) -> Value {
    try decode(result.column(named: column), as: type)
  }

  /// Reads the column with this number, from 0.
  /// - Throws: ``PostgresError/Code/decoding`` as for a name.
  package func decode<Value: PostgresDecodable>(
    _ column: Int, as type: Value.Type = Value.self
  ) throws(PostgresError) -> Value {
    guard column >= 0, column < result.columnCount else {
      throw PostgresError(.decoding, "there is no column number \(column)")
    }
    let field = result.field(row: index, column: column)
    // The field points into the result's memory.
    if let value = withExtendedLifetime(result, { Value(field) }) { return value }
    let found = field.bytes == nil ? "null" : "\(field.type)"
    throw PostgresError(.decoding, "column \(result.columnName(column)) is \(found), not a readable \(type)")
  }
}

/// The columns of a result that are read, each a case named like its column in camel case: `readMessageIDs` is
/// `read_message_ids`.
package protocol PostgresColumn: RawRepresentable<Int>, CaseIterable, Sendable {}

/// Where the results of one statement have their columns.
/// Looked up by name in the first result and kept, for rows that are read too often to compare names each time. Make one for
/// each statement, as a static value: another statement may have the same columns in another order.
package final class PostgresColumns<Column: PostgresColumn>: Sendable {
  private let places = Mutex<[Int]>([])
  private let constants: Set<Int>

  /// Knows nothing before the first result.
  /// - Parameter constants: columns that the statement leaves out, because all its rows have the same value. They are read as
  ///   null. libpq takes some 700 instructions for the description of a column, with every result.
  package init(without constants: [Column] = []) { self.constants = Set(constants.map(\.rawValue)) }

  /// The places of the columns, in the order of the cases' raw values, which count from 0.
  /// - Throws: ``PostgresError/Code/decoding`` where the statement has no column of a case's name and does not leave it out.
  package func places(in rows: PostgresRows) throws(PostgresError) -> [Int] {
    let known = places.withLock { $0 }
    if !known.isEmpty { return known }
    var found: [Int] = []
    for column in Column.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
      let isLeftOut = constants.contains(column.rawValue)
      found.append(isLeftOut ? PostgresRow.leftOut : try rows.result.column(named: columnName(of: "\(column)")))
    }
    places.withLock { $0 = found }
    return found
  }
}

/// A name in camel case as a column has it. A capital letter begins a word, except inside a word of capitals.
private func columnName(of name: String) -> String {
  var column = ""
  var wasCapital = false
  for letter in name {
    if letter.isUppercase, !wasCapital { column += "_" }
    column += letter.lowercased()
    wasCapital = letter.isUppercase
  }
  return column
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

extension PostgresRow {
  /// Reads the first column where a column can hold the type, and otherwise a type whose properties are named like the row's columns
  /// in camel case: `seenAge` is `seen_age`. A property that no column can hold is read from the same row.
  ///
  /// Compares names each time; rows of every push have ``PostgresColumns``.
  /// - Throws: ``PostgresError/Code/decoding`` as for a name.
  package func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(PostgresError) -> Value {
    do {
      return try RowDecoder(row: self).value { 0 }
    } catch {
      throw error as? PostgresError ?? PostgresError(.decoding, "\(error)")
    }
  }
}

private struct RowDecoder: Decoder {
  let row: PostgresRow

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(NamedColumns(row: row))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Self.misfit }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Self.misfit }

  func value<Value: Decodable>(column: () throws -> Int) throws -> Value {
    guard let type = Value.self as? any PostgresDecodable.Type else { return try Value(from: self) }
    guard let value = try row.decode(column(), as: type) as? Value else { throw Self.misfit }
    return value
  }

  static var misfit: PostgresError { PostgresError(.decoding, "no row has the form of this type") }
}

private struct NamedColumns<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let row: PostgresRow

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  private func column(_ key: Key) throws -> Int { try row.result.column(named: columnName(of: key.stringValue)) }

  func contains(_ key: Key) -> Bool { true }

  func decodeNil(forKey key: Key) throws -> Bool {
    row.result.field(row: row.index, column: try column(key)).bytes == nil
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try RowDecoder(row: row).value { try column(key) }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw RowDecoder.misfit }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw RowDecoder.misfit }
  func superDecoder() throws -> any Decoder { throw RowDecoder.misfit }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw RowDecoder.misfit }
}
