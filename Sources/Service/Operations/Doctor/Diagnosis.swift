internal import PushRules

/// What a check found, before it has the name of the check. What may be judged is in extensions, apart from its query or call.
package struct Judgement: Equatable, Sendable {
  /// How well it is. The raw values are those of the JSON form.
  package enum Verdict: String, Sendable {
    case ok
    /// Works, and the operator should look at it.
    case warning = "warn"
    /// Does not work, or will not.
    case failure = "fail"
    /// Was not checked; the line says why.
    case skipped = "skip"
  }

  package let verdict: Verdict
  /// One line, without secrets.
  package let found: String
  /// What to do about it; nil when there is nothing to do.
  package let remedy: String?
  /// Instead of the check's name, where a check looks at several things.
  var name: String?

  init(_ verdict: Verdict, _ found: String, remedy: String? = nil) {
    self.verdict = verdict
    // Errors of others may have several lines.
    self.found = found.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    self.remedy = remedy
  }

  static func ok(_ found: String) -> Judgement { Judgement(.ok, found) }

  static func warning(_ found: String, remedy: String? = nil) -> Judgement {
    Judgement(.warning, found, remedy: remedy)
  }

  static func failure(_ found: String, remedy: String? = nil) -> Judgement {
    Judgement(.failure, found, remedy: remedy)
  }

  static func skipped(_ why: String) -> Judgement { Judgement(.skipped, why) }

  func named(_ name: String) -> Judgement {
    var named = self
    named.name = name
    return named
  }
}

extension [Judgement] {
  /// The faults that were found, or that there are none.
  func or(_ found: String) -> [Judgement] { isEmpty ? [.ok(found)] : self }
}

/// The result of one check: a line for the operator.
package struct CheckFinding: Equatable, Sendable {
  /// What was looked at: small letters, with what it is about behind a blank, e.g. `apns com.example.app/production`.
  package let name: String
  package let verdict: Judgement.Verdict
  package let found: String
  package let remedy: String?

  init(_ name: String, _ judgement: Judgement) {
    self.name = judgement.name ?? name
    (verdict, found, remedy) = (judgement.verdict, judgement.found, judgement.remedy)
  }

  package var line: String {
    // Four letters for people; what fails stands out.
    let word = verdict == .failure ? "FAIL" : verdict == .ok ? "ok  " : verdict.rawValue
    let end = found.hasSuffix("?") ? "" : "."
    return "\(word)  \(name): \(found)" + (remedy.map { "\(end) To do: \($0)" } ?? "")
  }
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
  package internal(set) var findings: [CheckFinding] = []

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
    return failed.contains { $0.name == ServiceExamination.settingsName } ? 2 : 1
  }

  /// How many of each, in a line.
  package var summary: String {
    let counts: [(Judgement.Verdict, String)] = [
      (.ok, "well"), (.warning, "to look at"), (.failure, "failing"), (.skipped, "skipped"),
    ]
    return counts.map { verdict, words in "\(findings.count { $0.verdict == verdict }) \(words)" }.joined(
      separator: ", ")
  }

  /// One JSON object: `exit_code`, and `checks` with `name`, `verdict`, `found` and, where there is one, `remedy`.
  package var json: [UInt8] {
    let checks: [PayloadObject] = findings.map {
      [
        "found": .text($0.found), "name": .text($0.name), "remedy": .text($0.remedy),
        "verdict": .text($0.verdict.rawValue),
      ]
    }
    return (["checks": .list(checks), "exit_code": .count(Int(exitCode))] as PayloadObject).encoded()
  }
}
