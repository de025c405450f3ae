import Foundation

/// `embed-sql DB OUTPUT`: writes the SQL files of the folder `DB` as a Swift file.
///
/// - `SQLFiles.migrations`, `.functions`, `.host`: the files of these folders as `(name, text)`, by name; the name is
///   without `.sql`, the text is what the file holds, byte for byte.
/// - `SQLStatements.claimMessages`: the file `statements/**/claim_messages.sql` without its first comment. Folders inside
///   `statements` are for readers; names are unique over all of them, or the build fails.
@main
struct EmbedSQLTool {
  static func main() throws {
    let db = URL(filePath: CommandLine.arguments[1])
    let lists = try ["migrations", "functions", "host"].map { folder in
      let entries = try files(in: db.appending(path: folder)).map {
        "    (\"\(name(of: $0))\", \(literal(try text(of: $0)))),"
      }
      return "  static let \(folder): [(name: String, text: String)] = [\n" + entries.joined(separator: "\n")
        + "\n  ]\n"
    }
    let statements = try files(in: db.appending(path: "statements")).map {
      "  static let \(camelCase(name(of: $0))) = \(literal(withoutHead(try text(of: $0))))\n"
    }
    let output =
      "enum SQLFiles {\n" + lists.joined(separator: "\n") + "}\n\nenum SQLStatements {\n"
      + statements.joined(separator: "\n") + "}\n"
    try output.write(toFile: CommandLine.arguments[2], atomically: true, encoding: .utf8)
  }

  private static func files(in folder: URL) -> [URL] {
    let all =
      FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
    return all.filter { $0.pathExtension == "sql" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  private static func text(of file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

  private static func name(of file: URL) -> String { file.deletingPathExtension().lastPathComponent }

  /// The comment at the top is for readers of the file; PostgreSQL keeps a prepared statement's text in its views.
  private static func withoutHead(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.drop { $0.hasPrefix("--") || $0.isEmpty }.joined(separator: "\n").trimmingCharacters(in: .newlines)
  }

  private static func camelCase(_ name: String) -> String {
    let words = name.split(separator: "_")
    return words.dropFirst().reduce(String(words[0])) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }

  /// A raw literal of several lines, whose delimiter does not occur in the text.
  private static func literal(_ text: String) -> String {
    var marks = "#"
    while text.contains("\"\"\"" + marks) { marks += "#" }
    return "\(marks)\"\"\"\n\(text)\n\"\"\"\(marks)"
  }
}
