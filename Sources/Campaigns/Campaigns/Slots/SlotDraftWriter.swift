internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

/// Has a language model write the bodies of rendered rows, some at a time. A row whose text fails keeps its template.
struct SlotDraftWriter {
  /// The draft of a rendered row, by its place.
  typealias Draft = (place: Int, draft: SlotDraft)

  let texts: ModelTexts
  /// Drafts that are written concurrently: with a limit of two seconds, all rows of a batch within their lease.
  let concurrency: Int
  /// A row that is due sooner keeps its template.
  let reserve: Duration

  /// - Parameters:
  ///   - rows: rendered from templates; their bodies and titles are replaced.
  ///   - limit: until when drafts are begun.
  /// - Returns: how many the model has written.
  func write(
    _ drafts: [Draft], for rows: inout [RenderedRow], by task: ModelTask, within limit: Duration,
    on reactor: isolated Reactor
  ) async -> Int {
    let now = Date.now.timeIntervalSince1970
    let timely = drafts.filter { draft in
      Double(rows[draft.place].row.fireAt) / 1_000_000 - now > Double(reserve.components.seconds)
    }
    guard !timely.isEmpty else { return 0 }
    let batch = TurnBatch(timely, workers: concurrency, until: Reactor.now + limit.clampedNanoseconds)
    let written = WrittenDrafts()
    let unwritten = rows
    for _ in 0..<concurrency {
      reactor.start {
        while let draft = batch.next() {
          await self.write(draft, of: unwritten[draft.place].row, by: task, into: written, batch, on: reactor)
        }
        batch.workerEnded(on: reactor)
      }
    }
    _ = await batch.finished(on: reactor)
    for (place, text) in written.texts {
      rows[place].text?.title = text.title
      rows[place].text?.body = text.body
    }
    return written.texts.count
  }

  private func write(
    _ draft: Draft, of row: SlotRow, by task: ModelTask, into written: WrittenDrafts, _ batch: TurnBatch<Draft>,
    on reactor: isolated Reactor
  ) async {
    let occasion = "\(row.campaign) \(row.slot) \(row.fireDate)"
    let form = ReplyForm.body(title: draft.draft.title)
    do throws(PostgresError) {
      let composition = try await texts.write(
        draft.draft.prompt, for: row.userID, on: occasion, within: task.limit, on: reactor
      ) { reply throws(ReplyDefect) in
        try CheckInReply(modelText: reply, form: form, rules: task.rules)
      }
      written.texts[draft.place] = composition.text
      // Nobody is asked again today.
      if ["model_not_configured", "model_budget_spent"].contains(composition.writing.failure) { batch.stop() }
    } catch {
      texts.logger.warning("a model is not asked", metadata: ["error": "\(error)"])
      batch.stop()
    }
  }
}

/// Texts by the places of their rows.
private final class WrittenDrafts {
  var texts: [Int: CampaignText] = [:]
}
