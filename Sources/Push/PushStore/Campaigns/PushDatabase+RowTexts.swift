package import Postgres
package import PushRules
package import Reactors

/// A row of a watched kind whose body a language model is to write.
package struct RowTextTask: Sendable {
  package let kind: String
  package let subjectID: HostID
  package let userID: HostID?
  /// What is asked, as the kind's composer has it.
  package let composer: String
  /// What is known, as JSON; nil when it could not be read.
  package let facts: String?
}

extension PushDatabase {
  /// Takes events that wait for a text, each once.
  package func takeRowTexts(
    _ rowsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [RowTextTask] {
    var tasks: [RowTextTask] = []
    for row in try await pool.query(.takeRowTexts(rowsMax: Int32(clamping: rowsMax)), on: reactor) {
      tasks.append(
        RowTextTask(
          kind: try row.decode("kind"), subjectID: try row.decode("subject_id"), userID: try row.decode("user_id"),
          composer: try row.decode("composer"), facts: try row.decode("facts")))
    }
    return tasks
  }

  /// Lets an event be pushed that waits for a text.
  /// - Parameter body: nil for the kind's own.
  package func keep(
    _ body: String?, for task: RowTextTask, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await pool.query(.keepRowText(kind: task.kind, subjectID: task.subjectID, body: body), on: reactor)
  }
}
