internal import Postgres
internal import PushStore

/// Whether the functions that read the host's tables work.
enum HostContractCheck {
  static let name = "host functions"

  static func judge(_ failures: [(function: HostFunction, error: PostgresError)]) -> [CheckFinding] {
    guard !failures.isEmpty else { return [CheckFinding(name, .ok, "\(HostFunction.allCases.count) answer")] }
    return failures.map { function, error in
      CheckFinding(
        name, .failure, "tacet.\(function.rawValue) fails: \(error.debugDescription)",
        remedy: error.sqlState == "42501"
          ? "mend what the rights check shows, and grant select on what the function reads"
          : "replace it as db/README.md tells, for your tables")
    }
  }
}
