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
    /// The user's local day, such as `2026-11-22`.
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
  /// - Throws: `PostgresError`; ``CampaignUnusable`` for an unreadable definition.
  package static func make(
    of name: String, onlyUser userID: HostID?, from store: PushDatabase, logger: Logger, on reactor: isolated Reactor
  ) async throws -> CampaignPreview? {
    guard let stored = try await store.campaigns(on: reactor).first(where: { $0.name == name }) else { return nil }
    let definition: CampaignDefinition
    do {
      definition = try CampaignDefinition(json: stored.definition)
    } catch {
      throw CampaignUnusable(description: "\(error)")
    }
    let found = try await store.eligible(for: name, onlyUser: userID, usersMax: usersMax, on: reactor)
    let look = TurnLook(store: store, logger: logger)
    var users: [User] = []
    for turn in found.turns { users.append(try await look.preview(of: turn, by: definition, on: reactor)) }
    return CampaignPreview(users: users, eligibleCount: found.count)
  }
}

/// A campaign has an unreadable definition.
package struct CampaignUnusable: Error, CustomStringConvertible {
  package let description: String
}

extension TurnLook {
  fileprivate func preview(
    of turn: CampaignTurn, by definition: CampaignDefinition, on reactor: isolated Reactor
  ) async throws(PostgresError) -> CampaignPreview.User {
    func user(pushType: String? = nil, reason: String? = nil, inputs: String = "{}") -> CampaignPreview.User {
      CampaignPreview.User(
        userID: turn.userID, localDay: turn.localDay, pushType: pushType, reason: reason,
        inputs: (try? JSONDecoder().decode(PayloadObject.self, from: Data(inputs.utf8))) ?? [:])
    }
    switch try await outcome(of: turn, by: definition, on: reactor) {
    case .refused(_, let reason): return user(reason: reason)
    case .seen(let look):
      let finding = look.evaluation.finding
      return user(
        pushType: finding?.pushType.rawValue, reason: finding == nil ? "nothing_to_say" : nil,
        inputs: look.findings.inputs)
    }
  }
}
