import Foundation

/// Writes files as Swift, in literals of text, which compile in no time; an array of bytes takes half a minute for the
/// description of the API.
///
/// `embed-files text OUTPUT FILE…`: `EmbeddedFiles.style_css` is the text of `style.css`, and `EmbeddedFiles.all` has every name
/// with its text.
///
/// `embed-files sql OUTPUT DB`: the SQL files of the folder `DB`.
///
/// - `SQLFiles.migrations`, `.functions`, `.campaigns`, `.host`: the files of these folders as `(name, text)`, by name; the name is
///   without `.sql`, the text is what the file holds, byte for byte. `.uninstall`: the text of `uninstall.sql`.
/// - `PushStatements.claimMessages`: the statement `claim_messages` of a file in `statements`, and `PushStatements.all`.
/// - `StatementCall.claimMessages(…)`: the statement with its parameters, by their names.
///
/// Names of statements are unique over all files, or the build fails.
@main
struct EmbedFilesTool {
  static func main() {
    do {
      let arguments = CommandLine.arguments.dropFirst(3).map { URL(filePath: $0) }
      let isSQL = CommandLine.arguments[1] == "sql"
      try write(isSQL ? swift(ofSQLIn: arguments[0]) : swift(of: arguments), to: CommandLine.arguments[2])
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  /// What depends on an unchanged file is not compiled again.
  private static func write(_ output: String, to path: String) throws {
    guard (try? String(contentsOfFile: path, encoding: .utf8)) != output else { return }
    try output.write(toFile: path, atomically: true, encoding: .utf8)
  }

  private static func swift(of files: [URL]) throws -> String {
    let texts = try files.map { file in
      let name = file.lastPathComponent.replacing(/\W/, with: "_")
      return "  static let \(name) = \(literal(try text(of: file)))\n"
    }
    let all = files.map { "(\"\($0.lastPathComponent)\", \($0.lastPathComponent.replacing(/\W/, with: "_")))" }
    return """
      enum EmbeddedFiles {
      \(texts.joined())  static let all: [(name: String, text: String)] = [\(all.joined(separator: ", "))]
      }

      """
  }

  private static func swift(ofSQLIn db: URL) throws -> String {
    let lists = try ["migrations", "functions", "campaigns", "host"].map { folder in
      let entries = try files(in: db.appending(path: folder)).map {
        "    (\"\(name(of: $0))\", \(literal(try text(of: $0)))),"
      }
      return "  static let \(folder): [(name: String, text: String)] = [\n" + entries.joined(separator: "\n")
        + "\n  ]\n"
    }
    let uninstall = "  static let uninstall = \(literal(try text(of: db.appending(path: "uninstall.sql"))))\n"
    let statements = try files(in: db.appending(path: "statements")).flatMap(statements)
    return "internal import Postgres\n\n" + """
      enum SQLFiles {
      \(lists.joined(separator: "\n"))
      \(uninstall)}

      enum PushStatements {
      \(try statements.map { try $0.declaration() }.joined(separator: "\n"))
        static let all: [PostgresStatement] = [\(statements.map(\.swiftName).joined(separator: ", "))]
      }

      extension StatementCall {
      \(statements.map(\.call).joined(separator: "\n"))}

      """
  }

  private static func files(in folder: URL) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "sql" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  private static func text(of file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

  private static func name(of file: URL) -> String { file.deletingPathExtension().lastPathComponent }

  /// Its defect is told as compilers tell theirs, so that the build shows the file.
  private static func statements(in file: URL) throws -> [NamedStatement] {
    do {
      return try NamedStatement.statements(in: try text(of: file))
    } catch let defect as NamedStatement.Defect {
      throw NamedStatement.Defect("\(file.path):1:1: error: \(defect)")
    }
  }
}
