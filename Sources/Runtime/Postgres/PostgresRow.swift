/// One row of a result.
public struct PostgresRow: Sendable {
  let result: ResultHandle
  let index: Int

  /// Reads the column of a name, compared as written.
  ///
  /// ```swift
  /// let badge = try row.decode("badge", as: Int?.self)
  /// let tokens: [String] = try row.decode("tokens")
  /// ```
  /// - Throws: ``PostgresError/Code/decoding`` naming the column, its type and the Swift type asked for; a null is an
  ///   error unless an optional was asked for.
  public func decode<Value: PostgresDecodable>(
    _ column: String, as type: Value.Type = Value.self
  ) throws(PostgresError) -> Value {
    guard let number = result.column(named: column) else {
      throw PostgresError(.decoding, "there is no column \(column)")
    }
    return try decode(number, as: type)
  }

  /// Reads the column at a place, counted from 0.
  /// - Throws: ``PostgresError/Code/decoding`` as for a name.
  public func decode<Value: PostgresDecodable>(
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
