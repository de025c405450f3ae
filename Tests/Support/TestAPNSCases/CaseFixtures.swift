internal import Cryptography
internal import Foundation
package import Reactors
package import Simulators

/// The keys, apps, devices, certificates and provider tokens of the case file.
package struct CaseFixtures: Sendable {
  private static let loaded = Result { try CaseFixtures(CaseFile.load()) }

  /// The time of the cases.
  package let now: WallInstant
  /// Client certificates by name, self-signed as far as the service can tell.
  package let certificates: [String: CertificateAuthority.Identity]
  private let privateKeys: [String: P256PrivateKey]
  private let recipe: Recipe

  private var fixtures: CaseFile.Mapping { recipe.mapping }

  /// One set of keys serves all tests: making a pair takes longer than most cases.
  package static func shared() throws -> CaseFixtures {
    try loaded.get()
  }

  private init(_ file: CaseFile.Mapping) throws {
    let fixtures = try CaseFile.mapping("fixtures", in: file)
    recipe = Recipe(fixtures)
    now = WallInstant(seconds: Int64(fixtures["now"] as? Int ?? 0))
    let authority = try CertificateAuthority(name: "Client certificates")
    certificates = try CaseFile.mapping("certificates", in: fixtures).mapValues { _ in
      try authority.issue(for: ["client"])
    }
    privateKeys = try CaseFile.mapping("keys", in: fixtures).mapValues { _ in P256PrivateKey() }
  }

  /// Everything registered, as the cases have it.
  package func registry() throws -> SimulationRegistry {
    var registry = SimulationRegistry()
    for (team, value) in try CaseFile.mapping("teams", in: fixtures) {
      for bundle in (value as? CaseFile.Mapping)?["bundles"] as? [String] ?? [] {
        registry.registerBundle(bundle, team: team)
      }
    }
    for (identifier, value) in try CaseFile.mapping("keys", in: fixtures) {
      registry.register(try key(identifier, value as? CaseFile.Mapping ?? [:]))
    }
    for (name, value) in try CaseFile.mapping("device_tokens", in: fixtures) {
      guard let device = device(value as? CaseFile.Mapping ?? [:]) else { continue }
      registry.register(device, token: try deviceToken(name))
    }
    for (name, value) in try CaseFile.mapping("certificates", in: fixtures) {
      try register(name, value as? CaseFile.Mapping ?? [:], in: &registry)
    }
    return registry
  }

  private func register(
    _ name: String, _ value: CaseFile.Mapping, in registry: inout SimulationRegistry
  ) throws {
    let environment = SimulatedEnvironment(rawValue: value["env"] as? String ?? "") ?? .production
    let certificate = RegisteredCertificate(environments: [environment], topics: value["topics"] as? [String] ?? [])
    guard let der = try PEM.text(certificates[name]?.certificate ?? "").certificatesAsDER().first else {
      throw CaseFileError.missing(name)
    }
    registry.register(certificate, der: der)
  }

  /// A device token's hexadecimal digits by its name.
  package func deviceToken(_ name: String) throws -> String {
    guard let value = try CaseFile.mapping("device_tokens", in: fixtures)[name] else {
      throw CaseFileError.missing(name)
    }
    return try CaseFile.text(value)
  }

  /// Signs a provider token by its recipe. Identifiers without a key are signed by a stranger.
  package func mint(_ name: String, at now: WallInstant) throws -> String {
    let recipe = try CaseFile.mapping(name, in: CaseFile.mapping("jwt", in: fixtures))
    let kid = recipe["kid"] as? String
    let signer = kid.flatMap { privateKeys[$0] } ?? P256PrivateKey()
    return try ProviderTokenMint(
      algorithm: recipe["alg"] as? String ?? "ES256", keyIdentifier: kid, issuer: recipe["iss"] as? String ?? "",
      issuedAt: issuedAt(recipe, now: now)
    ).sign(with: signer, as: recipe["sig"] as? String ?? "raw")
  }

  private func issuedAt(_ recipe: CaseFile.Mapping, now: WallInstant) -> String? {
    if let offset = recipe["iat_offset_s"] as? Int { return String(now.seconds + Int64(offset)) }
    if let text = recipe["iat"] as? String { return "\"\(text)\"" }
    return (recipe["iat"] as? Int).map { String($0) }
  }

  private func key(_ identifier: String, _ value: CaseFile.Mapping) throws -> ProviderKey {
    let environment = value["env"] as? String ?? ""
    let topics = (value["topics"] as? [String]).map(Set.init)
    let privateKey = privateKeys[identifier] ?? P256PrivateKey()
    return ProviderKey(
      identifier: identifier,
      team: value["team"] as? String ?? "",
      scope: topics.map { .topics($0, related: value["related"] as? String) } ?? .team,
      environments: SimulatedEnvironment(rawValue: environment).map { [$0] } ?? Set(SimulatedEnvironment.allCases),
      publicKey: privateKey.publicKey)
  }

  private func device(_ value: CaseFile.Mapping) -> RegisteredDevice? {
    guard let name = value["env"] as? String, let environment = SimulatedEnvironment(rawValue: name) else { return nil }
    var device = RegisteredDevice(environment: environment, bundle: value["bundle"] as? String ?? "")
    if let moment = value["unregistered_ms"] as? Int { device.end = .unregistered(atMilliseconds: Int64(moment)) }
    if let moment = value["expired_ms"] as? Int { device.end = .expired(atMilliseconds: Int64(moment)) }
    if let injected = value["inject"] as? [Any], let status = injected.first as? Int {
      device.answers = [
        ScriptedAnswer(
          status: status, reason: injected.last as? String, rawBody: value["inject_body"] as? String,
          times: ScriptedAnswer.always)
      ]
    }
    return device
  }
}
