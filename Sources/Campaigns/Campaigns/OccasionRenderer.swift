internal import FoundationEssentials
internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

/// Finds what occasions say: asks the campaign's functions about their users, and its host for content. Then it fills the texts of slots,
/// and asks the layers of other campaigns for a reason to write.
struct OccasionRenderer {
  let store: PushDatabase
  /// Nil where nothing is fetched, only read.
  let contents: ContentFetcher?
  let logger: Logger

  struct Outcome {
    /// Occasions with words, or with the reason why they have none.
    var decided: [DecidedOccasion] = []
    /// What is still to be decided: all of campaigns that come at hours that have something to say, and what a language model may write of
    /// slots that are rendered ahead.
    var drafts: [Draft] = []
    /// Users who live in another zone than the occasions of their slots were made for. Their slots are moved, and their occasions are
    /// due at other times now.
    var moved: Set<HostID> = []
    var missingTokens = 0
    /// What the host says, by its text: a document of all users is read once.
    fileprivate var documents: [String: CampaignValues] = [:]

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
    let situations = try await situations(of: occasions, in: campaign, on: reactor)
    var outcome = Outcome()
    var materials: [HostID: CampaignValues] = [:]
    for (place, occasion) in occasions.enumerated() {
      guard let situation = situations[place] else {
        outcome.refuse(occasion, "campaign_inactive")
        continue
      }
      if let refusal = situation.refusal {
        outcome.refuse(occasion, refusal)
      } else if !definition.hasSlots {
        outcome.add(occasion, situation, definition)
        // Times in messages take long to find, and other work of the reactor does not wait for all users.
        if place % Self.usersTogether == 0 { await Task.yield() }
      } else if situation.timeZone != occasion.timeZone {
        outcome.moved.insert(occasion.userID)
      } else {
        let known = materials[occasion.userID] ?? situation.material.flatMap(CampaignValues.init(json:))
        materials[occasion.userID] = known
        outcome.add(occasion, known, contents?[place], definition, isAhead: isAhead)
      }
    }
    for userID in outcome.moved {
      try await store.followAudience(
        of: campaign, defaults: definition.slots, for: userID, lead: lead, on: reactor)
    }
    return outcome
  }

  /// Users whose messages are read without a pause.
  private static let usersTogether = 8

  /// What the campaign's host says, for each occasion; nil where it is not asked.
  private func content(
    for occasions: [Occasion], of campaign: String, by definition: CampaignDefinition, isAhead: Bool,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> [ContentOutcome]? {
    guard let source = definition.content else { return nil }
    if isAhead { try await contents?.refresh(occasions, of: campaign, from: source, on: reactor) }
    return try await store.contents(for: occasions, of: campaign, isPerUser: source.isPerUser, on: reactor)
  }

  /// What is known of the users of occasions, by the place of each. Those of an hour are asked about together.
  private func situations(
    of occasions: [Occasion], in campaign: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [Int: CampaignSituation] {
    var found: [Int: CampaignSituation] = [:]
    let hours = Dictionary(grouping: occasions.indices) { place in
      occasions[place].slot.isEmpty ? "\(occasions[place].fireDate) \(occasions[place].fireAt)" : ""
    }
    for places in hours.values {
      let hour = occasions[places[0]].slot.isEmpty ? occasions[places[0]] : nil
      let users = Set(places.map { occasions[$0].userID })
      let situations = try await situations(of: users, in: campaign, at: hour, on: reactor)
      for place in places { found[place] = situations[occasions[place].userID] }
    }
    return found
  }

  /// What is known of users. When the campaign's function fails, each is asked about apart.
  private func situations(
    of userIDs: Set<HostID>, in campaign: String, at hour: Occasion?, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [HostID: CampaignSituation] {
    do throws(PostgresError) {
      return try await store.situations(of: Array(userIDs), in: campaign, at: hour, on: reactor)
    } catch {
      guard error.blamesStatement else { throw error }
      if userIDs.count == 1, let userID = userIDs.first {
        logger.error(
          "a user's material cannot be read", metadata: ["campaign": "\(campaign)", "error": "\(error)"])
        return [userID: CampaignSituation(refusal: "material_failed")]
      }
    }
    var situations: [HostID: CampaignSituation] = [:]
    for userID in userIDs {
      situations.merge(try await self.situations(of: [userID], in: campaign, at: hour, on: reactor)) { $1 }
    }
    return situations
  }
}

extension OccasionRenderer.Outcome {
  /// Adds an occasion of a slot.
  fileprivate mutating func add(
    _ occasion: Occasion, _ material: CampaignValues?, _ content: ContentOutcome?, _ definition: CampaignDefinition,
    isAhead: Bool
  ) {
    guard let material else { return refuse(occasion, "material_unreadable") }
    if let skip = material.skip { return refuse(occasion, skip) }
    // What a model has written is not written again.
    if definition.composer != nil, let words = occasion.words {
      return decided.append(DecidedOccasion(occasion, words))
    }
    var values = material.values(for: occasion)
    switch content {
    case .unavailable(let reason): return refuse(occasion, reason)
    case .document(let text):
      guard let fetched = documents[text] ?? CampaignValues(json: text) else {
        return refuse(occasion, "content_missing")
      }
      documents[text] = fetched
      values = values.overlaid(with: fetched)
    case nil: break
    }
    guard let (words, missing) = definition.words(for: occasion, values: values) else {
      return refuse(occasion, "no_text")
    }
    missingTokens += missing
    var draft = Draft(
      occasion: occasion, template: CampaignText(title: words.title, body: words.body),
      category: definition.category.id, data: words.data)
    if isAhead { draft.question = definition.question(for: occasion, values: values, title: words.title) }
    if draft.question == nil { decided.append(draft.decided()) } else { drafts.append(draft) }
  }

  /// Adds an occasion of a campaign that comes at an hour.
  fileprivate mutating func add(
    _ occasion: Occasion, _ situation: CampaignSituation, _ definition: CampaignDefinition
  ) {
    let material = CampaignMaterial(
      json: situation.material ?? "{}", at: Date(microseconds: situation.now), zoneName: occasion.timeZone)
    guard var material else { return refuse(occasion, "material_unreadable") }
    material.subject = definition.occasion
    let evaluation = LayerEvaluation(of: material, layers: definition.layers)
    if let finding = evaluation.finding {
      drafts.append(Draft(of: occasion, about: finding, evaluation, in: material, by: definition))
    } else {
      decided.append(DecidedOccasion(occasion, nil, refusal: "nothing_to_say", findings: evaluation.findings()))
    }
  }
}
