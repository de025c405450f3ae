internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

/// Renders occasions of slots: asks the campaign's functions about their users, and its host for content, and fills the texts.
struct SlotRenderer {
  let store: PushDatabase
  /// Nil where nothing is fetched, only read.
  let contents: ContentFetcher?
  let logger: Logger

  struct Outcome {
    /// Occasions with words, or with the reason why they have none.
    var decided: [DecidedOccasion] = []
    /// Users who live in another zone than their occasions were made for. Their slots are moved, and their occasions are due at
    /// other times now.
    var moved: Set<HostID> = []
    var missingTokens = 0
    /// What a language model may write instead of a template, where it is rendered ahead.
    var drafts: [SlotDraftWriter.Draft] = []

    fileprivate mutating func refuse(_ occasion: Occasion, _ reason: String) {
      decided.append(DecidedOccasion(occasion, nil, refusal: reason))
    }
  }

  /// Renders occasions of one campaign.
  /// - Parameter isAhead: whether there is time before they are due: content is fetched, and drafts are made for a language model.
  ///   Otherwise stored content is used.
  func render(
    _ occasions: [Occasion], of campaign: String, by definition: CampaignDefinition, isAhead: Bool,
    lead: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Outcome {
    let contents = try await content(for: occasions, of: campaign, by: definition, isAhead: isAhead, on: reactor)
    let situations = try await situations(of: Set(occasions.map(\.userID)), in: campaign, on: reactor)
    var outcome = Outcome()
    var materials: [HostID: SlotMaterial] = [:]
    for (occasion, content) in zip(occasions, contents) {
      guard let situation = situations[occasion.userID] else {
        outcome.refuse(occasion, "material_failed")
        continue
      }
      if let refusal = situation.refusal {
        outcome.refuse(occasion, refusal)
        continue
      }
      if situation.timeZone != occasion.timeZone {
        outcome.moved.insert(occasion.userID)
        continue
      }
      let known = materials[occasion.userID] ?? situation.material.flatMap(SlotMaterial.init(json:))
      materials[occasion.userID] = known
      outcome.add(occasion, known, content, definition, isAhead: isAhead)
    }
    for userID in outcome.moved {
      try await store.followAudience(
        of: campaign, defaults: definition.slots, for: userID, lead: lead, on: reactor)
    }
    return outcome
  }

  /// What the campaign's host says, for each occasion.
  private func content(
    for occasions: [Occasion], of campaign: String, by definition: CampaignDefinition, isAhead: Bool,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> [FetchedValues] {
    guard let url = definition.contentURL else { return occasions.map { _ in .values(CampaignValues()) } }
    if isAhead { try await contents?.refresh(occasions, of: campaign, at: url, on: reactor) }
    let outcomes = try await store.contents(
      for: occasions, of: campaign, isPerUser: ContentSource.isPerUser(url), on: reactor)
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
  ) async throws(PostgresError) -> [HostID: CampaignSituation] {
    do throws(PostgresError) {
      return try await store.situations(of: Array(userIDs), in: campaign, on: reactor)
    } catch {
      guard error.blamesStatement else { throw error }
    }
    var situations: [HostID: CampaignSituation] = [:]
    for userID in userIDs {
      do throws(PostgresError) {
        situations.merge(try await store.situations(of: [userID], in: campaign, on: reactor)) { $1 }
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
    _ occasion: Occasion, _ material: SlotMaterial?, _ content: FetchedValues, _ definition: CampaignDefinition,
    isAhead: Bool
  ) {
    guard let material else { return refuse(occasion, "material_unreadable") }
    if let skip = material.skip { return refuse(occasion, skip) }
    // What a model has written is not written again.
    if definition.composer != nil, let words = occasion.words {
      return decided.append(DecidedOccasion(occasion, words))
    }
    let fetched: CampaignValues
    switch content {
    case .unavailable(let reason): return refuse(occasion, reason)
    case .values(let values): fetched = values
    }
    let values = material.values(for: occasion).overlaid(with: fetched)
    guard let (words, missing) = definition.words(for: occasion, values: values) else {
      return refuse(occasion, "no_text")
    }
    missingTokens += missing
    if isAhead, let draft = definition.draft(for: occasion, values: values, title: words.title) {
      drafts.append((decided.count, draft))
    }
    decided.append(DecidedOccasion(occasion, words))
  }
}

private enum FetchedValues {
  case values(CampaignValues)
  case unavailable(String)
}

/// Has a language model write the bodies of rendered occasions, some at a time. One whose text fails keeps its template.
struct SlotDraftWriter {
  /// The draft of a rendered occasion, by its place.
  typealias Draft = (place: Int, draft: SlotDraft)

  let texts: ModelTexts
  /// Drafts that are written concurrently: with a limit of two seconds, all of a batch within their lease.
  let concurrency: Int
  /// What is due sooner keeps its template.
  let reserve: Duration

  /// - Parameters:
  ///   - decided: rendered from templates; their bodies and titles are replaced.
  ///   - limit: until when drafts are begun.
  /// - Returns: how many the model has written.
  func write(
    _ drafts: [Draft], for decided: inout [DecidedOccasion], by task: ModelTask, within limit: Duration,
    on reactor: isolated Reactor
  ) async -> Int {
    let now = Date.now.timeIntervalSince1970
    let timely = drafts.filter { draft in
      Double(decided[draft.place].occasion.fireAt) / 1_000_000 - now > Double(reserve.components.seconds)
    }
    guard !timely.isEmpty else { return 0 }
    let batch = WorkBatch(timely, until: Reactor.now + limit.clampedNanoseconds)
    let unwritten = decided
    var written: [Int: CampaignText] = [:]
    _ = await batch.run(workers: concurrency, on: reactor) { draft in
      let composition = await self.write(draft.draft, of: unwritten[draft.place].occasion, by: task, on: reactor)
      written[draft.place] = composition?.text
      // Nobody is asked again today.
      let failure = composition?.writing.failure
      if composition == nil || ["model_not_configured", "model_budget_spent"].contains(failure) { batch.stop() }
    }
    for (place, text) in written {
      decided[place].words?.title = text.title
      decided[place].words?.body = text.body
    }
    return written.count
  }

  /// - Returns: nil when the database fails.
  private func write(
    _ draft: SlotDraft, of occasion: Occasion, by task: ModelTask, on reactor: isolated Reactor
  ) async -> ModelTexts.Composition? {
    do throws(PostgresError) {
      return try await texts.write(
        draft.prompt, for: occasion.userID, on: "\(occasion.campaign) \(occasion.slot) \(occasion.fireDate)",
        within: task.limit,
        check: ReplyCheck(rules: task.rules, title: draft.title), on: reactor)
    } catch {
      texts.logger.warning("a model is not asked", metadata: ["error": "\(error)"])
      return nil
    }
  }
}
