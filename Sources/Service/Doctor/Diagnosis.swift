internal import FoundationEssentials

/// All findings about a service, in the order of the checks.
public struct Diagnosis: Sendable {
  /// What was found.
  public private(set) var findings: [CheckFinding] = []

  /// Nothing has been looked at.
  public init() {}

  /// Adds a finding.
  public mutating func add(_ finding: CheckFinding) { findings.append(finding) }

  /// For scripts: 0 when all is well or a warning, 1 when something fails, 2 when the settings keep the service from
  /// starting, so that not everything could be looked at.
  public var exitCode: Int32 {
    let failed = findings.filter { $0.verdict == .failure }
    if failed.isEmpty { return 0 }
    return failed.contains { $0.name == SettingsCheck.name } ? 2 : 1
  }

  /// How many of each, in a line.
  public var summary: String {
    let counts: [(CheckFinding.Verdict, String)] = [
      (.ok, "well"), (.warning, "to look at"), (.failure, "failing"), (.skipped, "skipped"),
    ]
    return counts.map { verdict, words in "\(findings.count { $0.verdict == verdict }) \(words)" }.joined(
      separator: ", ")
  }

  /// One JSON object: `exit_code`, and `checks` as ``CheckFinding`` encodes them.
  public var json: [UInt8] {
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
