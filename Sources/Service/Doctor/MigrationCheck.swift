internal import PushStore

/// Whether the schema is that of this program.
enum MigrationCheck {
  static let name = "migrations"

  /// - Parameter outdatedFunctions: files of `db/functions` that are not those of this program.
  static func judge(applied: Set<Int>, known: [Migration], outdatedFunctions: [String] = []) -> CheckFinding {
    if applied.isEmpty {
      return CheckFinding(name, .failure, "none was applied", remedy: "run tacet migrate")
    }
    let missing = known.filter { !applied.contains($0.version) }
    let newer = applied.subtracting(known.map(\.version)).sorted()
    if !missing.isEmpty {
      let names = missing.map(\.name).joined(separator: ", ")
      return CheckFinding(name, .failure, "missing: \(names)", remedy: "run tacet migrate")
    }
    if !newer.isEmpty {
      let numbers = newer.map(String.init).joined(separator: ", ")
      return CheckFinding(
        name, .warning, "the database has migrations that this program does not know: \(numbers)",
        remedy: "run the program that they came with")
    }
    if !outdatedFunctions.isEmpty {
      let names = outdatedFunctions.joined(separator: ", ")
      return CheckFinding(
        name, .warning, "functions of another version: \(names)",
        remedy: "run tacet migrate of the newest program that uses this database")
    }
    return CheckFinding(name, .ok, "\(known.count) applied, the last is \(known.last?.name ?? "none")")
  }
}
