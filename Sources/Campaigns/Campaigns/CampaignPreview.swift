internal import FoundationEssentials
package import Logging
internal import Postgres
package import PushRules
package import PushStore
package import Reactors

/// What a run would do now. A preview writes nothing, sends nothing and calls no model.
package struct CampaignPreview: Equatable, Sendable {
  /// An eligible user of the audience.
  package struct User: Equatable, Sendable {
    package let userID: HostID
    package let localDay: String
    /// The type of the push; nil when nothing would be sent.
    package let pushType: String?
    /// Why nothing would be sent.
    package let reason: String?
    /// The rules' inputs: ages, counts and names, no text of a user.
    package let inputs: PayloadObject
  }

  /// The first evaluated users, in the order of their ids.
  package let users: [User]
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
    var users: [HostID: User] = [:]
    for decided in outcome.decided { users[decided.occasion.userID] = User(decided) }
    for draft in outcome.drafts {
      let findings = draft.findings.map { JSONText.of($0) }
      users[draft.occasion.userID] = User(
        DecidedOccasion(draft.occasion, nil, pushType: draft.pushType, findings: findings))
    }
    return CampaignPreview(
      users: found.occasions.map { users[$0.userID] ?? User(DecidedOccasion($0, nil, refusal: "campaign_unusable")) },
      eligibleCount: found.count)
  }
}

extension CampaignPreview.User {
  fileprivate init(_ decided: DecidedOccasion) {
    struct Findings: Decodable { let inputs: PayloadObject }
    (userID, localDay) = (decided.occasion.userID, decided.occasion.fireDate)
    (pushType, reason) = (decided.pushType, decided.refusal)
    let findings = decided.findings.flatMap { try? JSONDecoder().decode(Findings.self, from: Data($0.utf8)) }
    inputs = findings?.inputs ?? [:]
  }
}
