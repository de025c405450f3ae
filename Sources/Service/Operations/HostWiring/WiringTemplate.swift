/// `db/host/wiring.sql`, whose head says how it is filled.
struct WiringTemplate {
  /// What a definition stands for: once for each of these values, beside those of all.
  typealias Rows = (separator: String, values: [[String: String]])

  private var definitions: [(name: String, lines: [Substring])] = []
  private var body: [Substring] = []

  init(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let parts = lines.split(separator: "-- template", maxSplits: 1)
    for line in parts[0] {
      if line.hasPrefix("-- define ") {
        definitions.append((String(line.dropFirst("-- define ".count)), []))
      } else if line != "-- end", !definitions.isEmpty {
        definitions[definitions.count - 1].lines.append(line)
      }
    }
    body = Array(parts[1])
  }

  /// - Parameters:
  ///   - values: by name. A definition may name those before it.
  ///   - rows: of definitions that stand for several things, or for none.
  ///   - words: what is so, besides that a value is there.
  func filled(_ values: [String: String], _ rows: [String: Rows], words: Set<String>) -> String {
    var values = values
    for (name, lines) in definitions {
      guard let several = rows[name] else {
        let text = Self.filled(lines, values, words)
        values[name] = text.isEmpty ? nil : text
        continue
      }
      let texts = several.values.map { Self.filled(lines, values.merging($0) { $1 }, words) }
      values[name] = texts.isEmpty ? nil : texts.joined(separator: several.separator)
    }
    let text = Self.filled(body, values, words)
    // What ends a body is in no value.
    let tag = (0...).lazy.map { "$body\($0)$" }.first { !text.contains($0) } ?? ""
    return text.replacing("$body$", with: tag)
  }

  private static func filled(_ lines: [Substring], _ values: [String: String], _ words: Set<String>) -> String {
    func holds(_ condition: Substring) -> Bool {
      condition.split(separator: " ").allSatisfy { word in
        let name = String(word.drop { $0 == "!" })
        return (words.contains(name) || values[name] != nil) != word.hasPrefix("!")
      }
    }
    var result: [String] = []
    var open: [Bool] = []
    for line in lines {
      let condition = line.firstRange(of: "-- if ")
      if line == "-- end" {
        open.removeLast()
      } else if let condition, condition.lowerBound == line.startIndex {
        open.append(holds(line[condition.upperBound...]))
      } else if !open.contains(false), condition.map({ holds(line[$0.upperBound...]) }) ?? true,
        let text = filled(line[..<(condition?.lowerBound ?? line.endIndex)], values),
        !(text.isEmpty && result.last?.isEmpty == true)
      {
        result.append(text)
      }
    }
    return result.joined(separator: "\n")
  }

  /// Further lines of a value are indented like the first. Nil where a name is not there.
  private static func filled(_ line: Substring, _ values: [String: String]) -> String? {
    let indent = String(line.prefix { $0 == " " })
    let names = line.matches(of: /\{([a-z_.]+:{0,2})\}/).map { String($0.1) }
    guard names.allSatisfy({ values[$0] != nil }) else { return nil }
    let text = line.replacing(/\{([a-z_.]+:{0,2})\}/) { match in
      (values[String(match.1)] ?? "").replacing("\n", with: "\n" + indent)
    }
    return String(text.reversed().drop { $0 == " " }.reversed())
  }
}
