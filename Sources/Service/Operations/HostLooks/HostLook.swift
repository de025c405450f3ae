internal import FoundationEssentials
internal import Postgres
package import PushStore
package import Reactors

/// Asks a database what a host's tables are, and what a mapping of them means.
package struct HostLook {
  private let database: DatabaseExamination

  package init(database: DatabaseExamination) { self.database = database }

  /// The tables with facts of a sample; a table that the role may not read has none.
  /// - Returns: also how many tables were too many.
  package func schema(on reactor: isolated Reactor) async throws -> (schema: HostSchema, leftOut: Int) {
    let found = try await database.hostTables(on: reactor)
    var schema = try HostSchema(tables: found.tables, hidden: found.hidden, blocks: found.blocks)
    for sample in schema.samples {
      guard let document = try? await database.hostText(sample.sql, on: reactor) else { continue }
      try schema.add(sample: document, of: sample.table)
    }
    return (schema, found.leftOut)
  }

  /// The SQL of a mapping, whose values the database has taken.
  /// - Throws: ``MappingFault`` for a line that is no SQL there, or that does not fit.
  package func wiring(
    _ mapping: HostMapping, _ schema: HostSchema, on reactor: isolated Reactor
  ) async throws -> WiringFile {
    try mapping.requireSure()
    var types = try MappingTypes(mapping, schema)
    for question in types.questions {
      do {
        try types.answer(question, try await database.hostText(question.sql, on: reactor) ?? "")
      } catch let error as PostgresError {
        throw MappingFault(question.line, error.message)
      }
    }
    return try WiringFile(mapping, types, schema, template: Migration.wiring)
  }

  /// Plays the newest messages, as the connected role and as the service's, and says what became of them.
  package func check(_ wiring: WiringFile, on reactor: isolated Reactor) async throws -> [String] {
    var lines: [String] = []
    let isApplied = try await database.hostText("select to_regclass('tacet_host.devices')::text", on: reactor) != nil
    let service = wiring.mapping.section(.role)?.head.value
    for role in [nil, service].prefix(service == nil ? 1 : 2) {
      if let role { lines.append("as \(role):") }
      do {
        let document = try await database.hostText(wiring.checkStatement(isApplied: isApplied), as: role, on: reactor)
        let played = try document.map { try JSONDecoder().decode([PlayedMessage].self, from: Data($0.utf8)) } ?? []
        lines +=
          played.isEmpty
          ? ["no message is there that would be pushed: write one and check again"]
          : played.flatMap(\PlayedMessage.lines)
      } catch let error as PostgresError {
        guard let role else { throw error }
        lines.append(
          "warning: \(role) cannot read all of it: \(error.message). Run the file of SQL first, which grants it.")
      }
    }
    return lines + wiring.meanings
  }
}
