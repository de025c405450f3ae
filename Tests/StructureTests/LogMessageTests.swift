import Testing

@Suite("Log messages")
struct LogMessageTests {
  /// The calls of a logger, by the line they begin in.
  private static let calls = SourceTree.sources.filter { SourceTree.text($0.path).contains("ogger") }.flatMap { file in
    file.code.indices.filter {
      file.code[$0].contains(/\b[lL]ogger\??\.(trace|debug|info|notice|warning|error|critical|log)\(/)
    }
    .map { (file: file, line: $0) }
  }

  /// The text of a call from its opening parenthesis to the end of its first argument that is a message.
  static func message(_ lines: ArraySlice<String>) -> String {
    let text = lines.joined(separator: " ")
    guard let call = text.firstMatch(of: /[lL]ogger\??\.\w+\(\s*(level: [^,]+,\s*)?/) else { return "" }
    var (depth, isLiteral, previous) = (0, false, Character(" "))
    return String(
      text[call.range.upperBound...].prefix { character in
        defer { previous = character }
        if character == "\"", previous != "\\" { isLiteral.toggle() }
        if isLiteral { return true }
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
        return depth >= 0 && !(character == "," && depth == 0)
      })
  }

  /// One literal, or a choice between literals, without a value in it.
  static func isConstant(_ message: String) -> Bool {
    let literal = /"(?:[^"\\]|\\[^(])*"/
    guard !message.contains(#"\("#), message.contains(literal) else { return false }
    let parts = message.split(separator: "?", maxSplits: 1)
    let rest = (parts.count == 2 && !parts[0].contains("\"") ? parts[1] : parts.joined(separator: "?")[...])
    return rest.replacing(literal, with: "").allSatisfy { $0 == ":" || $0.isWhitespace }
  }

  @Test("are constants: what varies is metadata")
  func constants() {
    let wrong = Self.calls.compactMap { file, line -> String? in
      let message = Self.message(file.lines[line..<min(line + 6, file.lines.count)])
      return Self.isConstant(message) ? nil : "\(file.path):\(line + 1): \(message)"
    }
    #expect(Self.calls.count > 30)
    #expect(wrong == [])
  }

  @Test(
    "are told from others",
    arguments: [
      (#"logger.info("decided", metadata: ["a": "\(a)"])"#, true), (#"logger.info("stopped")"#, true),
      (#"logger.log(level: a ? .debug : .info, "decided", metadata: [:])"#, true),
      (#"logger.notice(a.isEmpty ? "one" : "other", metadata: m)"#, true),
      (#"logger.info("decided \(a)")"#, false), (#"logger.debug(message, metadata: ["a": "b"])"#, false),
      (#"logger.error("failed: " + text)"#, false), (#"logger.error(text ?? "failed")"#, false),
    ])
  func rule(_ call: String, _ isConstant: Bool) {
    #expect(Self.isConstant(Self.message([call][...])) == isConstant)
  }
}
