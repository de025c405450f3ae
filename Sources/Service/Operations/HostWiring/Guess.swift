internal import Postgres

/// A part as a table may play it: its lines, why they are there, and how likely it is.
struct Guess {
  let part: HostMapping.Part
  let table: HostTable
  let score: Int
  /// What a person has to decide of the table; nil where it is certain.
  private(set) var doubt: String?
  /// The columns that play a part, by their lines.
  private(set) var columns: [String: HostColumn] = [:]
  private var said: [String] = []

  init(_ part: HostMapping.Part, _ table: HostTable, score: Int = 1, doubt: String? = nil) {
    (self.part, self.table, self.score, self.doubt) = (part, table, score, doubt)
  }

  /// The likeliest table. It is not certain where another is about as likely.
  /// - Parameter isRival: which others make it uncertain besides.
  static func best(_ guesses: [Guess], isRival: (Guess) -> Bool = { _ in false }) -> Guess? {
    let likely = guesses.filter { $0.score > 0 }
    guard var best = likely.max(by: { $0.score < $1.score }) else { return nil }
    let rivals = likely.filter { $0.table != best.table && ($0.score > best.score - 2 || isRival($0)) }
    if !rivals.isEmpty { best.doubt = "or \(rivals.prefix(3).map(\.table.fullName).joined(separator: ", "))?" }
    return best
  }

  var lines: [String] {
    // Fewer rows say nothing.
    let size = table.rows < 1000 ? nil : "about \(Int(table.rows)) rows"
    return [Self.line(part.rawValue, table.sql, doubt ?? size, isUnsure: doubt != nil)] + said
  }

  static func line(_ key: String, _ value: String, _ comment: String?, isUnsure: Bool = false) -> String {
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    let line = padded((isUnsure ? "? " : HostMapping.Part(rawValue: key) == nil ? "  " : "") + key, 14) + value
    return comment.map { "\(padded(line, 46))# \($0.onOneLine)" } ?? line
  }

  mutating func note(_ comment: String) { said.append("  # \(comment.onOneLine)") }

  mutating func add(_ key: String, _ value: String, _ comment: String? = nil, isUnsure: Bool = false) {
    said.append(Self.line(key, value, comment, isUnsure: isUnsure))
  }

  /// A column of the table with the key by which it is taken, else by its name; or a question for one that nothing says.
  /// - Parameters:
  ///   - value: what is said of the column instead of its name.
  ///   - doubt: what a person has to decide; nil where the column is certain, and where none is needed.
  mutating func add(_ key: String, _ column: HostColumn?, as value: String? = nil, doubt: String? = nil) {
    guard let column else {
      if let doubt { add(key, "", doubt, isUnsure: true) }
      return
    }
    let why = table.reference(of: column).map { "foreign key to \($0.schema).\($0.table)" }
    // A polymorphic reference: `sender_type` beside `sender_id`.
    let kind = table.columns.first { $0.isText && NameKey.plain($0.name) == NameKey(column: column.name).text + "type" }
    let several = kind.map { kind in
      "\(kind.name) says whose id it is: write a user's, as case when \(kind.sql) = 'User' then \(column.sql) end"
    }
    let question = key == "sender" || key == "user" ? several ?? doubt : doubt
    add(key, value ?? column.sql, question ?? why, isUnsure: question != nil)
    columns[key] = column
  }

  /// Conditions by which the table hides rows, and what is there and plays no part, so that a reader sees what was passed over. What
  /// looks like a condition and is not understood is asked about where it may say who takes part, or what people write.
  mutating func addHiding(_ schema: HostSchema) {
    let place = part == .users ? "profile" : String(part.rawValue.dropLast())  // message, member, block
    let hiding = schema.hiding.filter { $0.place == place && ($0.schema, $0.table) == (table.schema, table.name) }
    var rest: [String] = []
    for column in table.columns where !columns.values.contains(column) && !table.keyColumns.contains(column.name) {
      let (found, plain) = (hiding.first { $0.name == column.name }, NameKey.plain(column.name))
      let isState = part == .members && (found != nil || ["state", "status"].contains(where: plain.hasSuffix))
      let isKind = part == .messages && column.isInteger && HostWords.kinds.all.contains(plain)
      if let before = found?.before, let after = found?.after {
        let key = found?.isWish == true ? "wants" : "only"
        add(key, "\(before)\(column.sql)\(after)", "\(column.name) \(found?.words ?? "")")
      } else if found != nil, column.isInteger, plain.hasPrefix("is"), !plain.hasSuffix("active") {
        add("only", "coalesce(\(column.sql), 0) = 0", "\(column.name) is 0")
      } else if isState || isKind {
        let what = isState ? "who takes part" : "what people write"
        let question = "\(column.name) may say \(what): write that, as \(column.sql) in (0, 1), or delete the line"
        add("only", "", question, isUnsure: true)
      } else if found != nil {
        note("\(column.name) is not used: if it hides something, write a line only")
      } else {
        rest.append(column.name)
      }
    }
    if [.messages, .members].contains(part), !rest.isEmpty {
      note("not used: \(rest.prefix(12).joined(separator: ", "))")
    }
  }
}
