internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors
internal import TemporalReferences

/// Renders rows: asks the campaign's functions about their users, and its host for content, and fills the texts.
struct SlotRenderer {
  let store: PushDatabase
  /// Nil where nothing is fetched, only read.
  let contents: ContentFetcher?
  let logger: Logger

  struct Outcome {
    /// Rows with words, or with the reason why they have none.
    var rows: [RenderedRow] = []
    /// Users who live in another zone than their rows were made for. Their slots are moved, and their rows are due at
    /// other times now.
    var moved: Set<HostID> = []
    var missingTokens = 0
    /// What a language model may write instead of a row's template, where rows are rendered ahead.
    var drafts: [SlotDraftWriter.Draft] = []
  }

  /// Renders rows of one campaign.
  /// - Parameter isAhead: whether there is time before they are due: content is fetched, and drafts are made for a language model.
  ///   Otherwise stored content is used.
  func render(
    _ rows: [SlotRow], of campaign: String, by definition: SlotCampaignDefinition, isAhead: Bool,
    lead: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Outcome {
    let contents = try await content(for: rows, of: campaign, by: definition, isAhead: isAhead, on: reactor)
    let situations = try await situations(of: Set(rows.map(\.userID)), in: campaign, on: reactor)
    var outcome = Outcome()
    var materials: [HostID: SlotMaterial] = [:]
    for (row, content) in zip(rows, contents) {
      guard let situation = situations[row.userID] else {
        outcome.rows.append(RenderedRow(row, nil, refusal: "material_failed"))
        continue
      }
      guard let timeZone = situation.timeZone else {
        outcome.rows.append(RenderedRow(row, nil, refusal: "not_in_audience"))
        continue
      }
      if situation.isDenied {
        outcome.rows.append(RenderedRow(row, nil, refusal: "permission_denied"))
        continue
      }
      if timeZone != row.timeZone {
        outcome.moved.insert(row.userID)
        continue
      }
      let known = materials[row.userID] ?? situation.material.flatMap(SlotMaterial.init(json:))
      materials[row.userID] = known
      outcome.add(row, known, content, row.localTime, definition, isAhead: isAhead)
    }
    for userID in outcome.moved {
      try await store.followAudience(
        of: campaign, defaults: definition.userSlots, for: userID, lead: lead, on: reactor)
    }
    return outcome
  }

  /// What the campaign's host says, for each row.
  private func content(
    for rows: [SlotRow], of campaign: String, by definition: SlotCampaignDefinition, isAhead: Bool,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> [FetchedValues] {
    guard let url = definition.contentURL else { return rows.map { _ in .values(SlotValues()) } }
    if isAhead { _ = try await contents?.refresh(rows, of: campaign, at: url, on: reactor) }
    let outcomes = try await store.storedContents(for: rows, of: campaign, at: url, on: reactor)
    // A document of all users is read once.
    var known: [String: FetchedValues] = [:]
    return outcomes.map { outcome in
      switch outcome {
      case .unavailable(let reason): return .unavailable(reason)
      case .document(let text):
        let values = known[text] ?? SlotValues(json: text).map(FetchedValues.values) ?? .unavailable("content_missing")
        known[text] = values
        return values
      }
    }
  }

  /// What is known of users. When the campaign's function fails, each is asked about apart; one for whom it fails is
  /// absent.
  private func situations(
    of userIDs: Set<HostID>, in campaign: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [HostID: SlotSituation] {
    do throws(PostgresError) {
      return try await store.slotSituations(of: Array(userIDs), in: campaign, on: reactor)
    } catch {
      guard error.blamesStatement else { throw error }
    }
    var situations: [HostID: SlotSituation] = [:]
    for userID in userIDs {
      do throws(PostgresError) {
        situations.merge(try await store.slotSituations(of: [userID], in: campaign, on: reactor)) { $1 }
      } catch {
        guard error.blamesStatement else { throw error }
        logger.error(
          "a user's material cannot be read", metadata: ["campaign": "\(campaign)", "error": "\(error)"])
      }
    }
    return situations
  }
}

extension SlotRenderer.Outcome {
  fileprivate mutating func add(
    _ row: SlotRow, _ material: SlotMaterial?, _ content: FetchedValues, _ localTime: String?,
    _ definition: SlotCampaignDefinition, isAhead: Bool
  ) {
    guard let material else { return rows.append(RenderedRow(row, nil, refusal: "material_unreadable")) }
    if let skip = material.skip { return rows.append(RenderedRow(row, nil, refusal: skip.rawValue)) }
    // What a model has written is not written again.
    if definition.composer != nil, let stored = row.stored { return rows.append(RenderedRow(row, stored)) }
    let fetched: SlotValues
    switch content {
    case .unavailable(let reason): return rows.append(RenderedRow(row, nil, refusal: reason))
    case .values(let values): fetched = values
    }
    guard let occasion = SlotOccasion(row, localTime: localTime) else {
      return rows.append(RenderedRow(row, nil, refusal: "no_text"))
    }
    let values = material.values(for: occasion).overlaid(with: fetched)
    guard let text = row.userID.withBytes({ definition.text(for: occasion, values: values, user: $0) }) else {
      return rows.append(RenderedRow(row, nil, refusal: "no_text"))
    }
    missingTokens += text.missingTokens
    if isAhead, let draft = definition.draft(for: occasion, values: values) { drafts.append((rows.count, draft)) }
    rows.append(
      RenderedRow(
        row, RenderedText(title: text.title, body: text.body, category: definition.category.id, data: text.data)))
  }
}

private enum FetchedValues {
  case values(SlotValues)
  case unavailable(String)
}

extension SlotOccasion {
  fileprivate init?(_ row: SlotRow, localTime: String?) {
    guard let slot = SlotTime(row.slot), let day = CivilDay(row.fireDate) else { return nil }
    self.init(campaign: row.campaign, slot: slot, phase: row.phase, fireDate: day, localTime: localTime)
  }
}

extension SlotRow {
  /// `HH:MM` on the user's clock when the row is due; nil in a zone that only the database has.
  fileprivate var localTime: String? {
    guard let zone = ZoneDirectory.system.rules(of: timeZone) else { return nil }
    let second = fireAt / 1_000_000
    let minutes = (Int(second) + zone.offset(at: second)) / 60 % 1_440
    let time = (minutes + 1_440) % 1_440
    return "\(Self.twoDigits(time / 60)):\(Self.twoDigits(time % 60))"
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

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
