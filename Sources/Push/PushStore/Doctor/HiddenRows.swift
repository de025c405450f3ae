internal import Postgres
internal import Reactors

/// What hides rows of a host: the bodies of the functions in `db/functions/applying_to_hosts.sql`, run as statements, because
/// `tacet init` and the first `tacet migrate` look at databases that do not have the functions.
enum HiddenRows {
  /// Documents of columns that hide rows, and of tables of blocks, in an order of their own.
  /// - Parameter tables: those of schema public whose columns are looked at beside the tables of blocks; empty for all.
  static func look(
    at tables: [String], over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (columns: [String], blocks: [String]) {
    var found: [String] = []
    var names: [String] = []
    for row in try await connection.query(blocks, on: reactor) {
      found.append(try row.decode(0, as: String.self))
      names.append(try row.decode(1, as: String.self))
    }
    var documents: [String] = []
    let looked = tables.isEmpty ? [] : tables + names
    for row in try await connection.query(columns, [looked], on: reactor) {
      // Only a table of blocks is read as one.
      let place: String = try row.decode(1)
      let table: String = try row.decode(2)
      guard place != "block" || names.contains(table) else { continue }
      documents.append(try row.decode(0, as: String.self))
    }
    return (documents, found)
  }

  static let columns = PostgresStatement(
    "hidden_rows",
    """
    select jsonb_build_object(
      'schema', n.nspname, 'table', c.relname, 'place', r.place, 'name', r.column_name, 'before', r.before, 'after', r.after,
      'words', r.words, 'isWish', r.is_wish)::text,
      r.place, c.relname::text
    from (\(body(of: "hidden_rows"))) r (relation, place, column_name, before, after, words, is_wish)
    join pg_class c on c.oid = r.relation
    join pg_namespace n on n.oid = c.relnamespace
    order by n.nspname, c.relname, r.place, r.column_name
    """, [.array(of: .text)])

  static let blocks = PostgresStatement(
    "block_tables",
    """
    select jsonb_build_object(
      'schema', n.nspname, 'table', c.relname, 'blocker', b.blocker_column, 'blocked', b.blocked_column)::text,
      c.relname::text
    from (\(body(of: "block_tables"))) b (relation, table_name, blocker_column, blocked_column)
    join pg_class c on c.oid = b.relation
    join pg_namespace n on n.oid = c.relnamespace
    order by n.nspname, c.relname
    """)

  private static func body(of function: String) -> String {
    let text = FunctionFile.all.first { $0.name == "applying_to_hosts" }?.text ?? ""
    guard let head = text.firstRange(of: "function tacet.\(function)("),
      let begin = text[head.upperBound...].firstRange(of: "as $$\n"),
      let end = text[begin.upperBound...].firstRange(of: "\n$$;")
    else {
      preconditionFailure("db/functions/applying_to_hosts.sql has no function \(function)")
    }
    return String(text[begin.upperBound..<end.lowerBound])
  }
}
