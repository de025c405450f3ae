internal import HTTPServing
internal import SimulationControl

/// A signing key as scripts register it.
struct KeyDocument: ControlDocument {
  var identifier: String
  var team: String
  /// A public key, or a private one of which the public half is kept.
  var pem: String
  /// Nil for both.
  var environment: SimulatedEnvironment?
  /// Nil for every app of the team.
  var topics: [String]?
  var related: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case pem, environment, topics
    case identifier = "key_id"
    case team = "team_id"
    case related = "related_key_id"
  }

  func key() throws(ProblemDetails) -> ProviderKey {
    guard let publicKey = try? ProviderKey.publicKey(fromPEM: pem) else {
      throw ProblemDetails.unfit("pem is not a P-256 key")
    }
    return ProviderKey(
      identifier: identifier, team: team,
      scope: topics.map { .topics(Set($0), related: related) } ?? .team,
      environments: environment.map { [$0] } ?? Set(SimulatedEnvironment.allCases),
      publicKey: publicKey)
  }
}
