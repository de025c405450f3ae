package import Postgres
internal import PushRules
package import Reactors

/// One file of `db/functions`, built into the program.
struct FunctionFile {
  /// The file's name without its ending, e.g. `wake`.
  let name: String

  let text: String

  /// The same file for a database whose ids have these types.
  func written(with types: IDTypes) -> FunctionFile { FunctionFile(name: name, text: types.written(into: text)) }

  /// Every file, in the order in which they are applied: by name.
  static let all = SQLFiles.functions.map(FunctionFile.init)

  /// The files that `tacet migrate` would apply: the place of each, and its checksum.
  static func examine(
    _ files: [FunctionFile], over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    let hidden = try await HiddenRows.look(
      at: ["messages", "conversation_participants", "profiles"], over: connection, on: reactor)
    return try await connection.query(
      .examineFunctionFiles(
        names: files.map(\.name), texts: files.map(\.text),
        hidden: hidden.columns + hidden.blocks), on: reactor)
  }
}

extension DatabaseExamination {
  /// The files of `db/functions` that differ from what `tacet migrate` has applied, by name. Empty also where psql applied
  /// them last, because that leaves no checksums.
  package func outdatedFunctions(on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    var names: [String] = []
    let types = IDTypes(ofSessions: connection.configuration)
    let files = FunctionFile.all.map { $0.written(with: types) }
    for row in try await FunctionFile.examine(files, over: connection, on: reactor) {
      names.append(FunctionFile.all[Int(try row.decode(0, as: Int32.self))].name)
    }
    return names.count == FunctionFile.all.count ? [] : names
  }
}
