internal import FoundationEssentials
internal import Postgres
internal import PushRules
package import PushStore
package import Reactors

/// Asks a database what a host's tables are, and what a mapping of them means.
package struct HostLook {
  private let database: DatabaseExamination

  package init(database: DatabaseExamination) { self.database = database }

  /// - Returns: the tables, and how many tables were too many.
  package func schema(on reactor: isolated Reactor) async throws -> (schema: HostSchema, leftOut: Int) {
    let found = try await database.hostTables(on: reactor)
    return (try JSONDecoder().decode(HostSchema.self, from: Data(found.document.utf8)), found.leftOut)
  }

  /// The SQL of a mapping, whose values the database has taken.
  /// - Throws: ``MappingFault`` for a line that is no SQL there, or that does not fit.
  package func wiring(
    _ mapping: HostMapping, _ schema: HostSchema, on reactor: isolated Reactor
  ) async throws -> WiringFile {
    try schema.check(mapping)
    var typed = mapping
    for (place, section) in zip(0..., mapping.sections) {
      for (number, line) in zip(0..., section.lines) {
        guard let question = mapping.question(of: line, in: section, schema) else { continue }
        do throws(PostgresError) {
          typed.sections[place].lines[number].type = try await database.hostText(question, on: reactor)
        } catch {
          throw MappingFault(line.number, error.message)
        }
      }
    }
    return try WiringFile(typed, schema, template: Migration.wiring)
  }

  /// Plays the newest messages, as the connected role and as the service's, and says what became of them; undoes it all.
  /// - Parameter appRole: the one that inserts a copy of the newest message, which is then played too.
  package func check(
    _ wiring: WiringFile, appRole: String?, on reactor: isolated Reactor
  ) async throws -> [String] {
    let isApplied = try await database.hostText("select to_regclass('tacet_host.presence')::text", on: reactor) != nil
    try await database.begin(on: reactor)
    // After a failure the end of the session undoes it.
    try await database.run(wiring.checkScript(isApplied: isApplied), as: nil, on: reactor)
    var lines: [String] = []
    var inserted: String?
    if let appRole {
      inserted = try await database.hostText("select pg_temp.copy_id()", as: nil, on: reactor)
      do {
        try await database.run("select pg_temp.insert_copy()", as: appRole.quotedIdentifier, on: reactor)
        let outcome = inserted == nil ? "no message is there to copy" : "inserts a copy of the newest message"
        lines.append("as \(appRole): \(outcome)")
      } catch {
        inserted = nil
        lines.append("warning: \(appRole) cannot insert a copy of the newest message: \(error.message)")
      }
    }
    for role in wiring.role.map({ [nil, $0] }) ?? [nil] {
      if let role { lines.append("as \(role):") }
      lines += try await played(inserted, wiring.ids, as: role, on: reactor)
    }
    try await database.rollback(on: reactor)
    return lines.map(\.onOneLine)
  }

  private func played(
    _ inserted: String?, _ ids: IDTypes, hasBadges: Bool = true, as role: String?, on reactor: isolated Reactor
  ) async throws -> [String] {
    let message = "\(inserted?.quotedLiteral ?? "null")::\(ids.messages.rawValue)"
    do throws(PostgresError) {
      let played = try await database.hostText(
        "select pg_temp.played(\(message), \(hasBadges))", as: role, on: reactor)
      let lines = (played ?? "").split(separator: "\n").map(String.init)
      let isHidden = inserted.map { id in !lines.contains { $0.hasPrefix("message \(id) in ") } } ?? false
      return (lines.isEmpty ? ["no message is there that would be pushed: write one and check again"] : lines)
        + (isHidden ? ["warning: what was inserted is not seen: a line only or row-level security hides it"] : [])
    } catch {
      if error.sqlState == .queryCanceled, hasBadges {
        return try await played(inserted, ids, hasBadges: false, as: role, on: reactor)
          + ["no badge is counted, because that takes too long without the indexes of the wiring"]
      }
      guard let role else { throw error }
      if error.message.contains(role) { return ["not checked as \(role): first grant \(role) to the role that checks"] }
      return ["warning: \(role) cannot read all of it: \(error.message). Run the file of SQL first, which grants it."]
    }
  }
}
