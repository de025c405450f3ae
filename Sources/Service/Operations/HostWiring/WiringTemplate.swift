/// `db/host/wiring.sql`, whose head says how it is filled.
enum WiringTemplate {
  /// What a definition stands for: once for each of these values, beside those of all.
  typealias Rows = (separator: String, values: [[String: String]])

  /// - Parameters:
  ///   - values: by name. A definition may name those before it.
  ///   - rows: of definitions that stand for several things, or for none; each has its number, from 1.
  ///   - words: what is so, besides that a value is there.
  static func filled(
    _ template: String, _ values: [String: String], _ rows: [String: Rows], words: Set<String>
  ) -> String {
    func lines(_ text: Substring) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    let parts = template.split(separator: "\n-- template\n", maxSplits: 1)
    var values = values
    for definition in parts[0].split(separator: "\n-- define ").dropFirst() {
      let (name, body) = (String(lines(definition)[0]), lines(definition).dropFirst().prefix { $0 != "-- end" })
      let (separator, rows) = rows[name] ?? ("", [[:]])
      let texts = zip(1..., rows).map { number, row in
        filled(Array(body), values.merging(row) { $1 }.merging(["number": String(number)]) { $1 }, words)
      }
      let text = texts.joined(separator: separator)
      values[name] = text.isEmpty ? nil : text
    }
    let text = filled(lines(parts[1]), values, words)
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
