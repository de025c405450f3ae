internal import Postgres
internal import PushStore

/// Whether the schema is that of this program.
enum MigrationCheck {
  static let name = "migrations"

  /// - Parameters:
  ///   - changed: migrations that were applied with another text than this program's.
  ///   - outdatedFunctions: files of `db/functions` that are not those of this program.
  static func judge(
    _ applied: [AppliedMigration], known: [Migration] = Migration.all, changed: [String] = [],
    outdatedFunctions: [String] = []
  ) -> CheckFinding {
    guard !applied.isEmpty else { return CheckFinding(name, .failure, "none was applied", remedy: "run tacet migrate") }
    switch SchemaSupport(applied: applied, known: known) {
    case .unreleased:
      return CheckFinding(
        name, .failure, "the schema is from before the first release, and cannot be upgraded",
        remedy: "reinstall: run psql -X -f db/uninstall.sql, then tacet migrate")
    case .tooOld(let missing):
      return CheckFinding(
        name, .failure, "missing: \(missing.joined(separator: ", "))", remedy: "run tacet migrate")
    case .tooNew(let version, let oldest):
      return CheckFinding(
        name, .failure, "migration \(version) needs a program that knows migration \(oldest)",
        remedy: "run the program that they came with")
    case .supported: break
    }
    let newer = applied.map(\.version).filter { $0 > known.last?.version ?? 0 }
    if !newer.isEmpty {
      return warning(
        "the database has migrations that this program does not know", newer.map(String.init),
        remedy: "run the program that they came with")
    }
    if !changed.isEmpty {
      return warning(
        "applied with another text than this program's", changed,
        remedy: "compare deploy and database: a file must not change after it was applied")
    }
    if !outdatedFunctions.isEmpty {
      return warning(
        "functions of another version", outdatedFunctions,
        remedy:
          "run tacet migrate of the newest program that uses this database; it also fits them to columns of the host that were "
          + "added or dropped")
    }
    return CheckFinding(name, .ok, "\(known.count) applied, the last is \(known.last?.name ?? "none")")
  }

  private static func warning(_ found: String, _ names: [String], remedy: String) -> CheckFinding {
    CheckFinding(name, .warning, "\(found): \(names.joined(separator: ", "))", remedy: remedy)
  }
}

/// Whether the service's role may do what the service does.
enum RightsCheck {
  static let name = "rights"

  static func judge(_ missing: [MissingRight], role: String) -> [CheckFinding] {
    guard !missing.isEmpty else { return [CheckFinding(name, .ok, "role \(role) has what the service needs")] }
    let own = missing.filter(\.isOwn)
    let host = missing.filter { !$0.isOwn }
    return (own.isEmpty ? [] : [judge(own: own, role: role)]) + host.map { judge($0, role: role) }
  }

  /// One call mends all of them.
  private static func judge(own missing: [MissingRight], role: String) -> CheckFinding {
    let shown = missing.prefix(5).map { "\($0.privilege) on \($0.object)" }.joined(separator: ", ")
    let more = missing.count > 5 ? " and \(missing.count - 5) more" : ""
    return CheckFinding(
      name, .failure, "role \(role) lacks \(shown)\(more)",
      remedy: "as the owner of the schema, call tacet.grant_service(\(role.quotedLiteral))")
  }

  private static func judge(_ right: MissingRight, role: String) -> CheckFinding {
    let identifier = role.quotedIdentifier
    if let command = right.privilege.split(separator: " ").last, right.privilege.hasPrefix("policy for ") {
      let conditions = ["insert": "with check (true)", "delete": "using (true)"]
      let condition = conditions[String(command)] ?? "using (true) with check (true)"
      return CheckFinding(
        name, .failure, "row-level security lets role \(role) \(command) no row of \(right.object)",
        remedy: "create policy tacet_service_\(command) on \(right.object) for \(command) to \(identifier) \(condition)"
      )
    }
    guard right.privilege != "policy" else {
      return CheckFinding(
        name, .failure, "row-level security hides the rows of \(right.object) from role \(role)",
        remedy: "create policy tacet_service on \(right.object) to \(identifier) using (true) with check (true)")
    }
    return CheckFinding(
      name, .failure, "role \(role) lacks \(right.privilege) on \(right.object)",
      remedy: "grant \(right.privilege) on \(right.object) to \(identifier)")
  }
}

/// Whether device tokens are out of the reach of strangers: a role that writes one can get another user's pushes.
enum TokenAccessCheck {
  static let name = "token access"

  static func judge(_ access: [TokenAccess]) -> [CheckFinding] {
    guard !access.isEmpty else {
      return [CheckFinding(name, .ok, "no other role than the owner and the service reaches push_tokens")]
    }
    return access.map {
      let role = $0.role == "public" ? "public" : $0.role.quotedIdentifier
      return CheckFinding(
        name, .failure, "role \($0.role) can \($0.privileges) on every row of public.push_tokens",
        remedy:
          "revoke \($0.privileges) on public.push_tokens from \(role), or enable row-level security with policies "
          + "for a user's own rows; a server of yours that writes tokens can have BYPASSRLS")
    }
  }
}
