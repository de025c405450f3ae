internal import PushStore

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
      remedy: "as the owner of the schema, call tacet.grant_service('\(quoted(role))')")
  }

  private static func judge(_ right: MissingRight, role: String) -> CheckFinding {
    let identifier = "\"\(role.replacing("\"", with: "\"\""))\""
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

  private static func quoted(_ role: String) -> String { role.replacing("'", with: "''") }
}
