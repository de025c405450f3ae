internal import CLibpq

extension PostgresError {
  /// Reads the error report in a libpq result. The result stays the caller's.
  init(_ code: Code = .server, report result: OpaquePointer?) {
    func field(_ name: Int32) -> String? { PQresultErrorField(result, name).map { String(cString: $0) } }
    self.init(
      code,
      context: Context(
        sqlState: field(CLIBPQ_DIAG_SQLSTATE).map { SQLState($0) },
        message: field(CLIBPQ_DIAG_MESSAGE) ?? trimmed(PQresultErrorMessage(result)),
        // The server's names for what runs PL/pgSQL's RAISE and ASSERT (src/pl/plpgsql/src/pl_exec.c).
        isRaised: ["exec_stmt_raise", "exec_stmt_assert"].contains(field(CLIBPQ_DIAG_SOURCE_FUNCTION)),
        detail: field(CLIBPQ_DIAG_DETAIL), constraint: field(CLIBPQ_DIAG_CONSTRAINT), table: field(CLIBPQ_DIAG_TABLE),
        function: field(CLIBPQ_DIAG_CONTEXT).flatMap(Self.function(in:))))
  }

  /// The innermost function that a report's context names: `SQL function "f" during inlining`, or `PL/pgSQL function
  /// s.f(uuid) line 3 at RETURN`. Nothing else of the context is read, because it may quote values; a server that speaks
  /// another language names none here.
  static func function(in context: String) -> String? {
    for line in context.split(separator: "\n") {
      guard line.hasPrefix("SQL function ") || line.hasPrefix("PL/"), let start = line.firstRange(of: "function ")
      else {
        continue
      }
      let rest = line[start.upperBound...]
      if rest.first == "\"" { return rest.dropFirst().firstIndex(of: "\"").map { String(rest[..<$0].dropFirst()) } }
      let end = rest.firstIndex(of: ")").map(rest.index(after:)) ?? rest.firstIndex(of: " ") ?? rest.endIndex
      return String(rest[..<end])
    }
    return nil
  }

  /// The last thing libpq said of a connection.
  init(_ code: Code, of connection: OpaquePointer?) {
    self.init(code, trimmed(PQerrorMessage(connection)))
  }

  /// Whether the report says that the server ends the session. libpq's own reports, without a severity, do too.
  static func endsSession(report result: OpaquePointer?) -> Bool {
    guard let severity = PQresultErrorField(result, CLIBPQ_DIAG_SEVERITY).map({ String(cString: $0) }) else {
      return true
    }
    return severity != "ERROR"
  }
}

/// libpq ends its messages with a newline.
private func trimmed(_ text: UnsafePointer<CChar>?) -> String {
  guard let text else { return "" }
  var message = Substring(String(cString: text))
  while message.last?.isNewline == true { message.removeLast() }
  return String(message)
}
