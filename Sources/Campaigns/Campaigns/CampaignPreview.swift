public import APNSCore
internal import CampaignRules
public import FoundationEssentials
public import Logging
internal import Postgres
public import PushStore
public import Reactors

/// What a run would do now, without doing it: nothing is noted, written or sent, and no model is asked.
public struct CampaignPreview: Equatable, Sendable {
  /// One user of the audience whom the gate lets through.
  public struct User: Equatable, Sendable {
    /// The user.
    public let userID: UUID
    /// The user's day, as `2026-11-22`.
    public let localDay: String
    /// What would be written about; nil when nothing would be sent.
    public let pushType: String?
    /// Why nothing would be sent.
    public let reason: String?
    /// What the rules were given: ages, counts and names, no text of anybody.
    public let inputs: PayloadObject
  }

  /// Users looked at, in the order of their ids; the first ones.
  public let users: [User]
  /// How many there are.
  public let eligibleCount: Int

  /// Users that are looked at in a preview. Each takes about as long as a push, on the reactor that is asked.
  public static let usersMax = 200

  /// Looks at everybody, or at one user.
  /// - Returns: nil when there is no such campaign that is active.
  /// - Throws: `PostgresError`; ``CampaignUnusable`` for a definition that cannot be read.
  public static func make(
    of name: String, onlyUser userID: UUID?, from store: PushDatabase, logger: Logger, on reactor: isolated Reactor
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

/// A campaign whose definition cannot be read.
public struct CampaignUnusable: Error, CustomStringConvertible {
  /// What is wrong with it, and where.
  public let description: String
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
