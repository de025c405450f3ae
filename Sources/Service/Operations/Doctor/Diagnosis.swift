internal import FoundationEssentials

/// The result of one check: a line for the operator.
package struct CheckFinding: Equatable, Sendable {
  /// How well it is. The raw values are those of the JSON form.
  package enum Verdict: String, Sendable {
    case ok
    /// Works, and the operator should look at it.
    case warning = "warn"
    /// Does not work, or will not.
    case failure = "fail"
    /// Was not checked; the line says why.
    case skipped = "skip"

    /// Four letters for people; what fails stands out.
    var word: String { self == .failure ? "FAIL" : rawValue.padded(to: 4) }
  }

  /// What was looked at: small letters, with what it is about behind a blank, e.g. `apns com.example.app/production`.
  package let name: String
  package let verdict: Verdict
  /// What was found: one line, without secrets.
  package let found: String
  /// What to do about it; nil when there is nothing to do.
  package let remedy: String?

  init(_ name: String, _ verdict: Verdict, _ found: String, remedy: String? = nil) {
    self.name = name
    self.verdict = verdict
    // Errors of others may have several lines.
    self.found = found.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    self.remedy = remedy
  }

  package var line: String {
    let end = found.hasSuffix("?") ? "" : "."
    return "\(verdict.word)  \(name): \(found)" + (remedy.map { "\(end) To do: \($0)" } ?? "")
  }
}

extension CheckFinding: Encodable {
  private enum CodingKeys: String, CodingKey { case name, verdict, found, remedy }

  /// An object with `name`, `verdict` (`ok`, `warn`, `fail`, `skip`), `found` and, where there is one, `remedy`.
  package func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: CodingKeys.self)
    try object.encode(name, forKey: .name)
    try object.encode(verdict.rawValue, forKey: .verdict)
    try object.encode(found, forKey: .found)
    try object.encodeIfPresent(remedy, forKey: .remedy)
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

/// Durations and counts as people read them.
enum FindingWords {
  /// Two digits and the unit that fits: `850 ms`, `12 s`, `4 min`, `3 h`, `2 days`. Never negative.
  static func duration(_ duration: Duration) -> String {
    let milliseconds = max(
      0, duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000)
    let units: [(name: String, size: Int64, below: Int64)] = [
      ("ms", 1, 1000), ("s", 1000, 120_000), ("min", 60_000, 7_200_000), ("h", 3_600_000, 172_800_000),
    ]
    guard let unit = units.first(where: { milliseconds < $0.below }) else { return "\(milliseconds / 86_400_000) days" }
    return "\(milliseconds / unit.size) \(unit.name)"
  }

  /// A count that was stopped at a bound says so.
  static func count(_ count: Int, of bound: Int, _ one: String, _ many: String) -> String {
    count >= bound ? "at least \(bound) \(many)" : "\(count) \(count == 1 ? one : many)"
  }
}

/// All findings about a service, in the order of the checks.
package struct Diagnosis: Sendable {
  package private(set) var findings: [CheckFinding] = []

  package init() {}

  package mutating func add(_ finding: CheckFinding) { findings.append(finding) }

  /// The findings whose verdict differs from an earlier diagnosis, and those that are new and not well. What is looked at no
  /// more, such as a route without devices, is no change.
  package func changes(since earlier: Diagnosis) -> [CheckFinding] {
    findings.filter { finding in
      guard let before = earlier.findings.first(where: { $0.name == finding.name }) else {
        return finding.verdict != .ok
      }
      return before.verdict != finding.verdict
    }
  }

  /// For scripts: 0 when all is well or a warning, 1 when something fails, 2 when the settings keep the service from
  /// starting, so that not everything could be looked at.
  package var exitCode: Int32 {
    let failed = findings.filter { $0.verdict == .failure }
    if failed.isEmpty { return 0 }
    return failed.contains { $0.name == SettingsCheck.name } ? 2 : 1
  }

  /// How many of each, in a line.
  package var summary: String {
    let counts: [(CheckFinding.Verdict, String)] = [
      (.ok, "well"), (.warning, "to look at"), (.failure, "failing"), (.skipped, "skipped"),
    ]
    return counts.map { verdict, words in "\(findings.count { $0.verdict == verdict }) \(words)" }.joined(
      separator: ", ")
  }

  /// One JSON object: `exit_code`, and `checks` as ``CheckFinding`` encodes them.
  package var json: [UInt8] {
    struct Document: Encodable {
      let exit_code: Int32
      let checks: [CheckFinding]
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(Document(exit_code: exitCode, checks: findings)) else {
      preconditionFailure("strings and a number cannot be encoded")
    }
    return Array(data)
  }
}
