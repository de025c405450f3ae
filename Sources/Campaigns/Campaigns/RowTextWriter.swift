internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

/// Has a language model write the bodies of watched rows. Their events wait for it at most ten seconds, and then have the body of
/// their kind: so they are pushed as well where no process runs campaigns.
struct RowTextWriter {
  /// With a limit of two seconds, five at once take eight.
  private static let rowsMax = 20
  private static let concurrency = 5

  let store: PushDatabase
  let texts: ModelTexts

  /// - Returns: how many events need wait no longer.
  func writeAll(on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    let tasks = try await store.takeRowTexts(Self.rowsMax, on: reactor)
    guard !tasks.isEmpty else { return 0 }
    let batch = TurnBatch(tasks, workers: Self.concurrency, until: .max)
    for _ in 0..<Self.concurrency {
      reactor.start {
        while let task = batch.next() { await self.write(task, on: reactor) }
        batch.workerEnded(on: reactor)
      }
    }
    _ = await batch.finished(on: reactor)
    return tasks.count
  }

  private func write(_ task: RowTextTask, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      try await store.keep(try await body(for: task, on: reactor), for: task, on: reactor)
    } catch {
      texts.logger.warning("a row has no text of a model", metadata: ["kind": "\(task.kind)", "error": "\(error)"])
    }
  }

  private func body(for row: RowTextTask, on reactor: isolated Reactor) async throws(PostgresError) -> String? {
    guard let userID = row.userID, let task = ModelTask(json: row.composer),
      let facts = row.facts.flatMap(SlotValues.init(json:))
    else { return nil }
    // The title is the kind's.
    let form = ReplyForm.body(title: "push")
    let composition = try await texts.write(
      task.prompt(for: form, with: facts), for: userID, on: "\(row.kind) \(row.subjectID.text)", within: task.limit,
      on: reactor
    ) { reply throws(ReplyDefect) in
      try CheckInReply(modelText: reply, form: form, rules: task.rules)
    }
    return composition.text?.body
  }
}
