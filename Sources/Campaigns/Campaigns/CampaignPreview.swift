package import Logging
internal import Postgres
package import PushRules
package import PushStore
package import Reactors

/// What a run would do now. A preview writes nothing, sends nothing and calls no model.
package struct CampaignPreview: Sendable {
  /// The first evaluated users, in the order of their ids. One for whom a push would be sent has its type, and the text is not told;
  /// the others have the reason why nothing would be sent.
  package let users: [DecidedOccasion]
  package let eligibleCount: Int

  /// The most users of a preview. Each takes about as long as a push, on the calling reactor.
  package static let usersMax = 200

  /// Evaluates all users, or one.
  /// - Returns: nil without an active campaign of that name.
  /// - Throws: `PostgresError`; ``DefinitionDefect`` for an unreadable definition.
  package static func make(
    of name: String, onlyUser userID: HostID?, from store: PushDatabase, logger: Logger, on reactor: isolated Reactor
  ) async throws -> CampaignPreview? {
    guard let stored = try await store.campaigns(on: reactor).first(where: { $0.name == name }) else { return nil }
    let definition = try CampaignDefinition(json: stored.definition)
    let found = try await store.eligible(for: name, onlyUser: userID, usersMax: usersMax, on: reactor)
    let renderer = OccasionRenderer(store: store, contents: nil, logger: logger)
    // A run has nothing to do for slots.
    let outcome =
      definition.hasSlots
      ? OccasionRenderer.Outcome()
      : try await renderer.render(found.occasions, of: name, by: definition, isAhead: false, lead: .zero, on: reactor)
    let drafted = outcome.drafts.map { draft in
      DecidedOccasion(draft.occasion, nil, pushType: draft.pushType, findings: draft.evaluation?.findings())
    }
    let users = Dictionary(grouping: outcome.decided + drafted, by: \.occasion.userID)
    return CampaignPreview(
      users: found.occasions.map { users[$0.userID]?[0] ?? DecidedOccasion($0, nil, refusal: "campaign_unusable") },
      eligibleCount: found.count)
  }
}
