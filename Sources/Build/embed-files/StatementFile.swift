/// A file of `db/statements`: one statement with named parameters.
///
/// The comment at its top says what the statement does and declares its parameters, one a line, in the order in which
/// the server numbers them:
///
///     --   :user_id  uuid    the recipient
///     --   :kinds    text[]  what is asked for
///
/// Elsewhere `:user_id` is that parameter, as in `psql`. Quoted text, comments, casts (`::text`) and bounds of array
/// slices (`list[2:n]`) are left alone. Lines that hold only a comment, and the final semicolon, are not sent to the server.
struct StatementFile: Equatable {
  struct Parameter: Equatable {
    let name: String
    /// As SQL spells it, such as `uuid` or `bigint[]`; or a type of ids, such as `tacet.user_id`.
    let type: String
  }

  /// What keeps a file from being a statement.
  struct Defect: Error, Equatable, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// The file's name without its ending, such as `claim_messages`; also what the server calls the statement.
  let name: String
  let parameters: [Parameter]
  /// The text that the server prepares, with `$1` for the first parameter.
  let sql: String

  init(name: String, text: String) throws {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let head = lines.prefix { $0.hasPrefix("--") || $0.isEmpty }
    let sent = lines.dropFirst(head.count).filter { !$0.drop { $0 == " " }.hasPrefix("--") }
    let parameters = try head.compactMap(Self.declaration)
    self.name = name
    self.parameters = parameters
    sql = try ParameterNumbering.number(sent.joined(separator: "\n"), names: parameters.map(\.name))
  }

  /// `--   :name  type  meaning`
  private static func declaration(_ line: Substring) throws -> Parameter? {
    guard line.contains(/^--\s+:/) else { return nil }
    guard let match = line.wholeMatch(of: /--\s+:([a-z]\w*)\s+([a-z0-9._]+(?:\[\])?)\s+\S.*/) else {
      throw Defect("'\(line)' declares no name, type and meaning")
    }
    return Parameter(name: String(match.1), type: String(match.2))
  }
}
