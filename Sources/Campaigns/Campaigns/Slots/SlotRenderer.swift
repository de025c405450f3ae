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

    fileprivate mutating func refuse(_ row: SlotRow, _ reason: String) {
      rows.append(RenderedRow(row, nil, refusal: reason))
    }
  }

  /// Renders rows of one campaign.
  /// - Parameter isAhead: whether there is time before they are due: content is fetched, and drafts are made for a language model.
  ///   Otherwise stored content is used.
  func render(
    _ rows: [SlotRow], of campaign: String, by definition: CampaignDefinition, isAhead: Bool,
    lead: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Outcome {
    let contents = try await content(for: rows, of: campaign, by: definition, isAhead: isAhead, on: reactor)
    let situations = try await situations(of: Set(rows.map(\.userID)), in: campaign, on: reactor)
    var outcome = Outcome()
    var materials: [HostID: SlotMaterial] = [:]
    for (row, content) in zip(rows, contents) {
      guard let situation = situations[row.userID] else {
        outcome.refuse(row, "material_failed")
        continue
      }
      guard let timeZone = situation.timeZone else {
        outcome.refuse(row, "not_in_audience")
        continue
      }
      if situation.isDenied {
        outcome.refuse(row, "permission_denied")
        continue
      }
      if timeZone != row.timeZone {
        outcome.moved.insert(row.userID)
        continue
      }
      let known = materials[row.userID] ?? situation.material.flatMap(SlotMaterial.init(json:))
      materials[row.userID] = known
      outcome.add(row, known, content, definition, isAhead: isAhead)
    }
    for userID in outcome.moved {
      try await store.followAudience(
        of: campaign, defaults: definition.userSlots, for: userID, lead: lead, on: reactor)
    }
    return outcome
  }

  /// What the campaign's host says, for each row.
  private func content(
    for rows: [SlotRow], of campaign: String, by definition: CampaignDefinition, isAhead: Bool,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> [FetchedValues] {
    guard let url = definition.contentURL else { return rows.map { _ in .values(CampaignValues()) } }
    if isAhead { _ = try await contents?.refresh(rows, of: campaign, at: url, on: reactor) }
    let outcomes = try await store.storedContents(for: rows, of: campaign, at: url, on: reactor)
    // A document of all users is read once.
    var known: [String: FetchedValues] = [:]
    return outcomes.map { outcome in
      switch outcome {
      case .unavailable(let reason): return .unavailable(reason)
      case .document(let text):
        let values =
          known[text] ?? CampaignValues(json: text).map(FetchedValues.values) ?? .unavailable("content_missing")
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
    _ row: SlotRow, _ material: SlotMaterial?, _ content: FetchedValues, _ definition: CampaignDefinition,
    isAhead: Bool
  ) {
    guard let material else { return refuse(row, "material_unreadable") }
    if let skip = material.skip { return refuse(row, skip.rawValue) }
    // What a model has written is not written again.
    if definition.composer != nil, let stored = row.stored { return rows.append(RenderedRow(row, stored)) }
    let fetched: CampaignValues
    switch content {
    case .unavailable(let reason): return refuse(row, reason)
    case .values(let values): fetched = values
    }
    guard let occasion = SlotOccasion(row) else { return refuse(row, "no_text") }
    let values = material.values(for: occasion).overlaid(with: fetched)
    guard let text = row.userID.withBytes({ definition.text(for: occasion, values: values, user: $0) }) else {
      return refuse(row, "no_text")
    }
    missingTokens += text.missing
    if isAhead, let draft = definition.draft(for: occasion, values: values, title: text.title) {
      drafts.append((rows.count, draft))
    }
    rows.append(
      RenderedRow(
        row, RenderedText(title: text.title, body: text.body, category: definition.category.id, data: text.data)))
  }
}

private enum FetchedValues {
  case values(CampaignValues)
  case unavailable(String)
}

extension SlotOccasion {
  fileprivate init?(_ row: SlotRow) {
    guard let slot = SlotTime(row.slot), let day = CivilDay(row.fireDate) else { return nil }
    self.init(campaign: row.campaign, slot: slot, phase: row.phase, fireDate: day, localTime: row.localTime)
  }
}

extension SlotRow {
  /// `HH:MM` on the user's clock when the row is due; nil in a zone that only the database has.
  fileprivate var localTime: String? {
    guard let zone = ZoneDirectory.system.rules(of: timeZone) else { return nil }
    let second = fireAt / 1_000_000
    return SlotTime(minutes: ((Int(second) + zone.offset(at: second)) / 60).modulo(1_440)).clockText
  }
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
    let batch = TurnBatch(timely, until: Reactor.now + limit.clampedNanoseconds)
    let unwritten = rows
    var written: [Int: CampaignText] = [:]
    _ = await batch.run(workers: concurrency, on: reactor) { draft in
      let composition = await self.write(draft.draft, of: unwritten[draft.place].row, by: task, on: reactor)
      written[draft.place] = composition?.text
      // Nobody is asked again today.
      let failure = composition?.writing.failure
      if composition == nil || ["model_not_configured", "model_budget_spent"].contains(failure) { batch.stop() }
    }
    for (place, text) in written {
      rows[place].text?.title = text.title
      rows[place].text?.body = text.body
    }
    return written.count
  }

  /// - Returns: nil when the database fails.
  private func write(
    _ draft: SlotDraft, of row: SlotRow, by task: ModelTask, on reactor: isolated Reactor
  ) async -> ModelTexts.Composition? {
    do throws(PostgresError) {
      return try await texts.write(
        draft.prompt, for: row.userID, on: "\(row.campaign) \(row.slot) \(row.fireDate)", within: task.limit,
        check: ReplyCheck(form: .body(title: draft.title), rules: task.rules), on: reactor)
    } catch {
      texts.logger.warning("a model is not asked", metadata: ["error": "\(error)"])
      return nil
    }
  }
}
