/// Turns the named parameters of a statement into numbered ones.
struct ParameterNumbering {
  /// In the order of their numbers, from 1.
  private let names: [String]
  private var text: Substring
  private var numbered = ""
  private var used: Set<String> = []
  private var bracketDepth = 0

  private init(_ text: String, names: [String]) {
    self.names = names
    self.text = text[...]
  }

  /// - Returns: `text` without the semicolon at its end.
  /// - Throws: ``NamedStatement/Defect`` where a parameter is used and not declared, declared and not used, or declared
  ///   twice, where a quotation has no end, and where there is not exactly one statement.
  static func number(_ text: String, names: [String]) throws -> String {
    var numbering = ParameterNumbering(text, names: names)
    while !numbering.text.isEmpty { try numbering.takeNext() }
    return try numbering.finish()
  }

  private func finish() throws -> String {
    for (index, name) in names.enumerated() {
      guard !names[..<index].contains(name) else { throw NamedStatement.Defect(":\(name) is declared twice") }
      guard used.contains(name) else { throw NamedStatement.Defect(":\(name) is declared and not used") }
    }
    var statement = numbered.drop(while: \.isNewline)
    while let last = statement.last, last.isWhitespace || last == ";" { statement.removeLast() }
    guard !statement.isEmpty else { throw NamedStatement.Defect("there is no statement") }
    return String(statement)
  }

  /// Takes the plain text up to the next character that may mean something else, and that.
  private mutating func takeNext() throws {
    take(text.prefix { !":'\"-/$[];".contains($0) })
    switch text.first {
    case "'": take(try quotation(escapes ? #/'(?:[^'\\]|\\.|'')*'/# : #/'[^']*'/#))
    case "\"": take(try quotation(#/"[^"]*"/#))
    case "-" where text.hasPrefix("--"): take(text.prefix { !$0.isNewline })
    case "/" where text.hasPrefix("/*"): take(try quotation(#/(?s)/\*.*?\*//#))
    case "$": take(try dollarQuotation())
    case ":": takeColon(try parameterIndex())
    case ";" where text.contains { !$0.isWhitespace && $0 != ";" }:
      throw NamedStatement.Defect("a second statement follows")
    case let mark?:
      bracketDepth += mark == "[" ? 1 : mark == "]" ? -1 : 0
      take(text.prefix(1))
    case nil: break
    }
  }

  private mutating func take(_ part: some StringProtocol) {
    numbered += part
    text = text.dropFirst(part.count)
  }

  /// In a string that begins with `E'`, a backslash escapes a quote.
  private var escapes: Bool { numbered.suffix(2).wholeMatch(of: /\W?[eE]/) != nil }

  private func quotation(_ form: some RegexComponent<Substring>) throws -> Substring {
    guard let match = text.prefixMatch(of: form) else { throw NamedStatement.Defect("a quotation has no end") }
    return match.0
  }

  /// `$tag$ … $tag$`, or a dollar that means nothing.
  private func dollarQuotation() throws -> Substring {
    guard let opening = text.prefixMatch(of: /\$(?:[A-Za-z_]\w*)?\$/)?.0 else { return text.prefix(1) }
    guard let end = text.dropFirst(opening.count).firstRange(of: opening) else {
      throw NamedStatement.Defect("\(opening) has no end")
    }
    return text[..<end.upperBound]
  }

  /// The parameter that begins here; nil where the colon is part of a cast or a slice. A colon right behind a value is the
  /// middle of a slice; inside brackets it may also be its beginning.
  private func parameterIndex() throws -> Int? {
    guard !text.hasPrefix("::"), let name = text.prefixMatch(of: /:([A-Za-z_]\w*)/)?.1 else { return nil }
    if let last = numbered.last, last.isLetter || last.isNumber || "_)]'\"".contains(last) { return nil }
    if let index = names.firstIndex(of: String(name)) { return index }
    guard bracketDepth > 0 else { throw NamedStatement.Defect(":\(name) is not declared") }
    return nil
  }

  private mutating func takeColon(_ parameter: Int?) {
    guard let parameter else { return take(text.hasPrefix("::") ? "::" : ":") }
    used.insert(names[parameter])
    numbered += "$\(parameter + 1)"
    text = text.dropFirst(names[parameter].count + 1)
  }
}
