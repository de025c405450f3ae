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

  package struct Line: Equatable, Sendable {
    /// A part's name, or which column of the part it says.
    let key: String
    let value: String
    let isUnsure: Bool
    /// Counted from 1; 0 where no line says it.
    let number: Int
    /// As it is in the file.
    package let text: String
    /// What the value is, as the database says.
    var type: String?

    /// What the line says besides.
    fileprivate func saying(_ key: String, _ value: Substring) -> Line {
      Line(key: key, value: String(value.trimmed), isUnsure: isUnsure, number: number, text: text)
    }
  }

  struct Section: Equatable, Sendable {
    let part: Part
    let head: Line
    var lines: [Line] = []

    func all(_ key: String) -> [Line] { lines.filter { $0.key == key } }
    func value(_ key: String) -> String? { lines.first { $0.key == key }?.value }

    /// The word that begins what a part is, where that may be one.
    var word: String { String(head.value.prefix { !$0.isWhitespace }) }

    /// Whether no table is named. Only some words of `read` have something behind them.
    var isWord: Bool { part.words.contains { $0 == (part == .read ? word : head.value) } }
  }

  /// The longest file, in bytes.
  package static let bytesMax = 65_536

  /// The file.
  package let text: String
  var sections: [Section] = []

  func all(_ part: Part) -> [Section] { sections.filter { $0.part == part } }
  /// Where a part is not said, without a table.
  subscript(part: Part) -> Section {
    let word = String(part.words.last ?? "")
    let unsaid = Line(key: part.rawValue, value: word, isUnsure: false, number: 0, text: "")
    return all(part).first ?? Section(part: part, head: unsaid)
  }

  /// The part whose table has the columns of a line.
  func home(of line: Line, in section: Section) -> Section {
    ["flag", "array", "place"].contains(line.key) ? self[.messages] : section.isWord ? self[.members] : section
  }

  /// Whether a proposal is of the tables of the default contract, which `tacet migrate` wires alone.
  package var isDefault: Bool {
    let heads = [Part.messages, .members, .users, .devices].map { self[$0].head.value }
    let tables = ["messages", "conversation_participants", "profiles", "push_tokens"].map { "public.\($0)" }
    return heads == tables && self[.messages].value("sender") == "from_id"
  }

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

extension HostMapping.Part {
  /// The lines of each part: those that belong together, of which all of one set are there and none of another; others; and the words
  /// that stand for no table, of which the last holds where the part is not said.
  private static let rules: [Self: (needed: [String], others: String, words: String)] = [
    .messages: (["conversation sender text", "recipient sender text"], "sender_name written only", ""),
    .members: (["conversation user"], "only wants seen left unread latest", "everyone recipient"),
    .read: (["message user", "conversation user marker"], "only", "flag array marker none"),
    .users: (["id"], "name zone only wants", "none"),
    .blocks: (["blocker blocked"], "only", ""),
    .devices: (["user token"], "platform app environment registered dead only", "own"),
  ]
  /// Lines that may come more than once: conditions, all of which hold, and users that a row names beside each other.
  fileprivate static let repeated: Set<String> = ["only", "wants", "user"]

  fileprivate var needed: [[Substring]] { Self.rules[self]?.needed.map { $0.split(separator: " ") } ?? [[]] }
  fileprivate var others: [Substring] { Self.rules[self]?.others.split(separator: " ") ?? [] }
  fileprivate var words: [Substring] { Self.rules[self]?.words.split(separator: " ") ?? [] }
}

// Reading.
extension HostMapping {
  /// Reads a file.
  /// - Throws: ``MappingFault`` for the first line that cannot be used; where nothing is unsure, also for what is missing.
  package init(_ text: String) throws(MappingFault) {
    guard text.utf8.count <= Self.bytesMax, !text.utf8.contains(0) else {
      throw MappingFault(0, "a mapping has at most \(Self.bytesMax) bytes, and none is zero")
    }
    self.text = text
    for (number, said) in zip(1..., text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)) {
      if let line = try Self.line(said, number) { try add(line) }
    }
    guard unsure.isEmpty else { return }
    try checkWhole()
    try spellOut()
  }

  private mutating func add(_ line: Line) throws(MappingFault) {
    func fault(_ text: String) -> MappingFault { MappingFault(line.number, "\(line.key) \(text)") }
    guard !line.value.isEmpty || line.isUnsure else { throw fault("has no value") }
    if let part = Part(rawValue: line.key) {
      guard part == .blocks || all(part).isEmpty else { throw fault("is said before") }
      return sections.append(Section(part: part, head: line))
    }
    guard let section = sections.last else {
      throw fault("belongs to no part; the parts are \(Part.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    let known = section.part.needed.flatMap { $0 } + section.part.others
    guard known.contains(line.key[...]) else {
      throw fault("is no line of \(section.part); those are \(known.joined(separator: ", "))")
    }
    guard Part.repeated.contains(line.key) || section.value(line.key) == nil else {
      throw fault("of \(section.part) is said before")
    }
    sections[sections.count - 1].lines.append(line)
  }

  private func checkWhole() throws(MappingFault) {
    for part in [Part.messages, .members] where all(part).isEmpty {
      throw MappingFault(0, "there is no line \(part)")
    }
    for section in sections {
      if section.isWord, let line = section.lines.first {
        throw MappingFault(line.number, "\(section.part) \(section.head.value) has no lines of its own")
      }
      let needed = section.part.needed
      let isWhole = needed.count { $0.allSatisfy { key in section.value(String(key)) != nil } } == 1
      guard section.isWord || isWhole else {
        let sets = needed.map { $0.joined(separator: ", ") }.joined(separator: "; or else ")
        throw MappingFault(section.head.number, "\(section.part) needs lines \(sets)")
      }
    }
    let (members, role) = (self[.members].head, self[.role].head)
    guard (members.value == "recipient") == (self[.messages].value("recipient") != nil) else {
      throw MappingFault(members.number, "a line recipient and members recipient belong together: the two converse")
    }
    guard role.value.isEmpty || role.value.first == "\"" || role.value == role.value.quotedIdentifier else {
      throw MappingFault(role.number, "\(role.value) is no name of a role, unless it is in double quotes")
    }
  }

  /// Says as lines what a file does not: the key of messages, what is behind `read flag` and `read array`, and the two of a marker,
  /// `last_read_at >= created_at`, or `first_unread > id`.
  private mutating func spellOut() throws(MappingFault) {
    for place in sections.indices {
      let (section, head) = (sections[place], sections[place].head)
      if section.part == .messages { sections[place].lines.append(head.saying("id", "id")) }
      if section.part == .read, section.isWord, head.value != "none" {
        sections[place].lines = [head.saying(section.word, head.value.dropFirst(section.word.count))]
      }
      guard let marker = sections[place].lines.firstIndex(where: { $0.key == "marker" }) else { continue }
      let line = sections[place].lines.remove(at: marker)
      guard let sign = line.value.firstMatch(of: #/ >=? /#) else {
        throw MappingFault(line.number, "a marker is MARK >= PLACE, or FIRST_UNREAD > PLACE")
      }
      sections[place].lines += [
        line.saying("mark", line.value[..<sign.range.lowerBound]),
        line.saying("place", line.value[sign.range.upperBound...]),
      ]
      if !sign.output.contains("=") { sections[place].lines.append(line.saying("first_unread", "true")) }
    }
  }

  /// Nil for a line that says nothing.
  private static func line(_ text: Substring, _ number: Int) throws(MappingFault) -> Line? {
    // In quotes no comment begins, and `#>>` begins none. Read scalar by scalar: a quote with a combining mark behind it is a quote to
    // PostgreSQL.
    let before = /(?:\s*(?!#(?:\s|$))(?:'[^']*'|"[^"]*"|[^\s'"]+))*/.matchingSemantics(.unicodeScalar)
    var said = text.prefixMatch(of: before)?.output.trimmed ?? text
    let comment = text[said.endIndex...].trimmed
    guard comment.isEmpty || comment.unicodeScalars.first == "#" else {
      throw MappingFault(number, "a quote is not closed, as where a name has a line break: \(text)")
    }
    let isUnsure = said.first == "?"
    if isUnsure { said = said.dropFirst().trimmed }
    let key = said.prefix { !$0.isWhitespace }
    let value = String(said.dropFirst(key.count).trimmed)
    return key.isEmpty
      ? nil : Line(key: String(key), value: value, isUnsure: isUnsure, number: number, text: String(text))
  }
}
