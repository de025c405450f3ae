internal import Postgres
internal import PushRules

/// Which tables and columns of a host play which part: what `tacet.host` says.
///
/// A line that begins with the name of a part says where it is; the lines behind it say which column or expression of that table is
/// what. Each value is SQL and goes to the end of the line; ` # ` begins a comment. A line that begins with `?` is a guess that
/// nobody has confirmed, and nothing is wired while there is one.
package struct HostMapping: Equatable, Sendable {
  package enum Part: String, CaseIterable, Sendable {
    case messages, members, read, users, blocks, devices, role
  }

  package struct Line: Equatable, Sendable, CustomStringConvertible {
    /// A part's name, or a key; empty for a comment alone.
    var key: String
    var value: String
    var comment: String?
    var isUnsure = false
    /// Counted from 1; 0 where nothing was read.
    var number = 0

    init(_ key: String, _ value: String, _ comment: String? = nil, isUnsure: Bool = false) {
      (self.key, self.value, self.comment, self.isUnsure) = (key, value, comment?.onOneLine, isUnsure)
    }

    package var description: String { HostMapping.written(self, indent: "") }
  }

  package struct Section: Equatable, Sendable {
    let part: Part
    var head: Line
    var lines: [Line]

    init(_ part: Part, _ value: String, _ comment: String? = nil, isUnsure: Bool = false, _ lines: [Line] = []) {
      (self.part, self.lines) = (part, lines)
      head = Line(part.rawValue, value, comment, isUnsure: isUnsure)
    }

    mutating func add(_ key: String, _ value: String, _ comment: String? = nil, isUnsure: Bool = false) {
      lines.append(Line(key, value, comment, isUnsure: isUnsure))
    }

    func all(_ key: String) -> [Line] { lines.filter { $0.key == key } }
    func value(_ key: String) -> String? { lines.first { $0.key == key }?.value }
    /// A condition on each row that counts: all of a key's lines.
    func conditions(_ keys: String...) -> [String] { lines.filter { keys.contains($0.key) }.map(\.value) }
  }

  /// What stands before the first part.
  var preface: [Line] = []
  var sections: [Section]

  init(_ sections: [Section]) { self.sections = sections }

  func section(_ part: Part) -> Section? { sections.first { $0.part == part } }
  func all(_ part: Part) -> [Section] { sections.filter { $0.part == part } }
  /// Where a part is not said, without a table.
  subscript(part: Part) -> Section { section(part) ?? Section(part, part.rules.words.last ?? "") }

  /// What nobody has confirmed.
  package var unsure: [Line] { sections.flatMap { [$0.head] + $0.lines }.filter(\.isUnsure) }
}

/// What is wrong with a mapping, and what to do.
package struct MappingFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// Counted from 1; 0 for what no line says.
  package let line: Int
  let text: String

  init(_ line: Int = 0, _ text: String) { (self.line, self.text) = (line, text) }

  package var description: String { line == 0 ? text : "line \(line): \(text)" }
}

/// The lines of each part.
private struct PartRules {
  let needed: [String]
  let others: [String]
  /// What stands for no table; where the part is not said, the last.
  let words: [String]

  init(needed: String = "", others: String = "", words: String = "") {
    func all(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
    (self.needed, self.others, self.words) = (all(needed), all(others), all(words))
  }

  static let all: [HostMapping.Part: PartRules] = [
    .messages: PartRules(needed: "sender text", others: "conversation recipient sender_name written only"),
    .members: PartRules(
      needed: "conversation user", others: "only wants seen left unread latest", words: "everyone recipient"),
    .read: PartRules(needed: "user", others: "conversation message marker only", words: "flag array marker none"),
    .users: PartRules(needed: "id", others: "name zone only wants", words: "none"),
    .blocks: PartRules(needed: "blocker blocked", others: "only"),
    .devices: PartRules(
      needed: "user token", others: "platform app environment registered dead only", words: "own"),
    .role: PartRules(),
  ]
  /// Lines that may come more than once: conditions, all of which hold, and users that a row names beside each other.
  static let repeated: Set<String> = ["only", "wants", "user"]
}

extension HostMapping.Part {
  fileprivate var rules: PartRules { PartRules.all[self] ?? PartRules() }
}

extension HostMapping.Section {
  /// The word that begins what a part is, where that may be one.
  var word: String { String(head.value.prefix { !$0.isWhitespace }) }

  /// Whether no table is named. Only some words of `read` have something behind them.
  var isWord: Bool { part.rules.words.contains(part == .read ? word : head.value) }
}

// Reading.
extension HostMapping {
  /// The longest file, in bytes.
  package static let bytesMax = 65_536

  /// Reads a file.
  /// - Throws: ``MappingFault`` for the first line that cannot be used, and for what is missing.
  package init(_ text: String) throws(MappingFault) {
    guard text.utf8.count <= Self.bytesMax, !text.utf8.contains(0) else {
      throw MappingFault(0, "a mapping has at most \(Self.bytesMax) bytes, and none is zero")
    }
    self.init([])
    for (number, line) in zip(1..., text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)) {
      var line = try Self.line(Substring(line), number)
      line.number = number
      if let part = Part(rawValue: line.key) {
        guard part == .blocks || section(part) == nil else { throw MappingFault(number, "\(part) is said before") }
        guard !line.value.isEmpty || line.isUnsure else { throw MappingFault(number, "\(part) needs a table") }
        sections.append(Section(part, ""))
        sections[sections.count - 1].head = line
      } else if line.key.isEmpty {
        if line.comment == nil { continue }
        if sections.isEmpty { preface.append(line) } else { sections[sections.count - 1].lines.append(line) }
      } else {
        try add(line)
      }
    }
    try checkWhole()
  }

  private mutating func add(_ line: Line) throws(MappingFault) {
    guard let section = sections.last else {
      let parts = Part.allCases.map(\.rawValue).joined(separator: ", ")
      throw MappingFault(line.number, "\(line.key) belongs to no part; the parts are \(parts)")
    }
    let known = section.part.rules.needed + section.part.rules.others
    guard known.contains(line.key) else {
      throw MappingFault(
        line.number, "\(section.part) has no \(line.key); its lines are \(known.joined(separator: ", "))")
    }
    guard !line.value.isEmpty || line.isUnsure else { throw MappingFault(line.number, "\(line.key) has no value") }
    guard PartRules.repeated.contains(line.key) || section.value(line.key) == nil else {
      throw MappingFault(line.number, "\(line.key) of \(section.part) is said before")
    }
    sections[sections.count - 1].lines.append(line)
  }

  /// What each part must have. Of what is unsure only that it is.
  private func checkWhole() throws(MappingFault) {
    for part in [Part.messages, .members] where section(part) == nil {
      throw MappingFault(0, "there is no line \(part)")
    }
    for section in sections where section.part != .role && !section.head.isUnsure {
      if section.isWord {
        if let line = section.lines.first(where: { !$0.key.isEmpty }) {
          throw MappingFault(line.number, "\(section.part) \(section.head.value) has no lines of its own")
        }
        continue
      }
      for key in section.part.rules.needed where section.value(key) == nil {
        throw MappingFault(section.head.number, "\(section.part) needs a line \(key)")
      }
    }
    if let role = section(.role)?.head, role.value.first != "\"", role.value != role.value.quotedIdentifier {
      throw MappingFault(
        role.number, "\(role.value) is no name of a role; other than small letters belong in double quotes")
    }
    let (messages, members, read) = (self[.messages], self[.members], self[.read])
    guard !messages.head.isUnsure else { return }
    let isPair = members.head.value == "recipient"
    if !members.head.isUnsure, isPair != (messages.value("recipient") != nil) {
      throw MappingFault(
        members.head.number,
        "a line recipient of messages and members recipient belong together: the two are the conversation")
    }
    if !members.head.isUnsure, isPair == (messages.value("conversation") != nil) {
      throw MappingFault(
        messages.head.number, "messages need a line conversation, or a line recipient, and not both")
    }
    let isMarker = read.value("marker") != nil && read.value("conversation") != nil
    if !read.isWord, !read.head.isUnsure, isMarker == (read.value("message") != nil) {
      throw MappingFault(
        read.head.number, "a table of reads needs a line message, or lines conversation and marker")
    }
  }

  /// What nothing may be wired with.
  package func requireSure() throws(MappingFault) {
    guard let line = unsure.first else { return }
    let what = line.value.isEmpty ? "write what it is" : "delete the mark if it is right, or the line"
    throw MappingFault(line.number, "\(line.key) is marked ?: \(what)")
  }

  private static func line(_ text: Substring, _ number: Int) throws(MappingFault) -> Line {
    let (said, comment) = try parted(text, number)
    var words = said.drop(while: \.isWhitespace)
    let isUnsure = words.first == "?"
    if isUnsure { words = words.dropFirst().drop(while: \.isWhitespace) }
    let key = words.prefix { !$0.isWhitespace }
    let value = words.dropFirst(key.count).trimmed
    return Line(String(key), String(value), comment, isUnsure: isUnsure)
  }

  /// What a line says, and its comment. In quotes no comment begins, and `#>>` begins none. Read scalar by scalar: a quote with a
  /// combining mark behind it is a quote to PostgreSQL.
  private static func parted(_ text: Substring, _ number: Int) throws(MappingFault) -> (Substring, String?) {
    let scalars = text.unicodeScalars
    var quote: Unicode.Scalar?
    var isAfterSpace = true
    for place in scalars.indices {
      let scalar = scalars[place]
      if let open = quote {
        if scalar == open { quote = nil }
      } else if scalar == "'" || scalar == "\"" {
        quote = scalar
      } else if scalar == "#", isAfterSpace {
        let next = scalars.index(after: place)
        if next == scalars.endIndex || scalars[next].properties.isWhitespace {
          return (text[..<place], String(text[next...].trimmed))
        }
      }
      isAfterSpace = scalar.properties.isWhitespace
    }
    guard quote == nil else { throw MappingFault(number, "a quote is not closed") }
    return (text, nil)
  }

  /// With the tables as the catalog knows them: a session may look for bare names elsewhere.
  func qualified(by schema: HostSchema) -> HostMapping {
    var mapping = self
    for place in mapping.sections.indices where mapping.sections[place].part != .role && !mapping.sections[place].isWord
    {
      mapping.sections[place].head.value = schema.table(named: sections[place].head.value)?.sql ?? ""
    }
    return mapping
  }
}

// Writing.
extension HostMapping {
  private static let keyWidth = 14
  private static let commentColumn = 46

  /// The file.
  package var text: String {
    let parts = sections.map { section in
      ([Self.written(section.head, indent: "")] + section.lines.map { Self.written($0, indent: "  ") })
        .joined(separator: "\n")
    }
    return (preface.map { Self.written($0, indent: "") } + parts).joined(separator: "\n") + "\n"
  }

  fileprivate static func written(_ line: Line, indent: String) -> String {
    guard !line.key.isEmpty else { return "\(indent)# \(line.comment ?? "")" }
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(1, width - text.count))
    }
    let said = padded((line.isUnsure ? "? " : indent) + line.key, keyWidth) + line.value
    guard let comment = line.comment, !comment.isEmpty else {
      return said.last == " " ? String(said[...].trimmed) : said
    }
    return "\(padded(said, commentColumn))# \(comment)"
  }
}
