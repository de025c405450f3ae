public import Postgres
public import Reactors

/// One file of `db/functions`, built into the program.
struct FunctionFile {
  /// The file's name without its ending, e.g. `wake`.
  let name: String

  let text: String

  /// Every file, in the order in which they are applied: by name.
  static let all = SQLFiles.functions.map(FunctionFile.init)

  /// `$1` and `$2`: names and texts of files. Those that differ from what was applied: place, checksum.
  static let examination = PostgresStatement(
    "examine_function_files",
    """
    select f.place::int - 1, md5(f.text)
    from unnest($1, $2) with ordinality as f (name, text, place)
    left join tacet.function_files a on a.name = f.name
    where a.checksum is distinct from md5(f.text)
    order by f.place
    """, [.text.array ?? .inferred, .text.array ?? .inferred])

  /// The files that `tacet migrate` would apply: the place of each, and its checksum.
  static func examine(
    _ files: [FunctionFile], over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    try await connection.query(examination, [files.map(\.name), files.map(\.text)], on: reactor)
  }
}

extension DatabaseExamination {
  /// The files of `db/functions` that differ from what `tacet migrate` has applied, by name. Empty also where psql applied
  /// them last, because that leaves no checksums.
  public func outdatedFunctions(on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    var names: [String] = []
    for row in try await FunctionFile.examine(FunctionFile.all, over: connection, on: reactor) {
      names.append(FunctionFile.all[Int(try row.decode(0, as: Int32.self))].name)
    }
    return names.count == FunctionFile.all.count ? [] : names
  }
}
