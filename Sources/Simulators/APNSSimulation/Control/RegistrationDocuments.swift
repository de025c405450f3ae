internal import HTTP1
internal import Reactors
internal import SimulationControl

/// A device in registrations and responses.
struct DeviceDocument: ControlDocument, Encodable {
  /// In responses and scenarios. In requests it is in the path.
  var token: String?
  var environment: SimulatedEnvironment
  var bundle: String
  /// The name of the physical device; nil when only this token belongs to it.
  var name: String?
  /// Nil for an ordinary device token.
  var kind: KindText?
  /// The attributes type of a token for Live Activities; optional with an update token.
  var attributesType: String?
  /// Whether the user allows updates of an activity that a push starts; nil for the conduct's choice.
  var allowsUpdates: Bool?
  /// The activity of an update token.
  var activity: String?
  var unregisteredAtMilliseconds: Int64?
  var expiredAtMilliseconds: Int64?
  var answers: [ScriptedAnswer]?
  var delayMilliseconds: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case token, environment, answers, kind, activity
    case bundle = "bundle_id"
    case name = "device"
    case attributesType = "attributes_type"
    case allowsUpdates = "allows_updates"
    case unregisteredAtMilliseconds = "unregistered_at_ms"
    case expiredAtMilliseconds = "expired_at_ms"
    case delayMilliseconds = "delay_ms"
  }

  init(_ device: RegisteredDevice, token: String) {
    self.token = token
    environment = device.environment
    bundle = device.bundle
    name = device.name
    show(device.kind)
    switch device.end {
    case .unregistered(let moment): unregisteredAtMilliseconds = moment
    case .expired(let moment): expiredAtMilliseconds = moment
    case nil: break
    }
    answers = device.answers.isEmpty ? nil : device.answers
    delayMilliseconds = device.delayMilliseconds == 0 ? nil : device.delayMilliseconds
  }

  /// - Throws: `ProblemDetails` for impossible values.
  func device() throws(ProblemDetails) -> RegisteredDevice {
    try ControlLimits.check("delay_ms", delayMilliseconds)
    guard unregisteredAtMilliseconds == nil || expiredAtMilliseconds == nil else {
      throw ProblemDetails.unfit("a token ends once: unregistered_at_ms or expired_at_ms")
    }
    for answer in answers ?? [] {
      try ControlLimits.check("status", answer.status, from: 200, to: 599)
      try ControlLimits.check("times", answer.times, from: 1, to: ScriptedAnswer.always)
    }
    let end =
      unregisteredAtMilliseconds.map { RegisteredDevice.End.unregistered(atMilliseconds: $0) }
      ?? expiredAtMilliseconds.map { .expired(atMilliseconds: $0) }
    return RegisteredDevice(
      environment: environment, bundle: bundle, name: name, kind: try tokenKind(), end: end, answers: answers ?? [],
      delayMilliseconds: delayMilliseconds ?? 0)
  }
}

/// The registration of a signing key.
struct KeyDocument: ControlDocument {
  var identifier: String
  var team: String
  /// A public or private key. Only the public half is kept.
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

/// The registration of an app.
struct BundleDocument: ControlDocument {
  var bundle: String
  /// Nil when every team may push to it.
  var team: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case bundle = "bundle_id"
    case team = "team_id"
  }
}

/// The registration of a client certificate.
struct CertificateDocument: ControlDocument {
  /// The certificate. Further ones are ignored.
  var pem: String
  /// Nil for both.
  var environment: SimulatedEnvironment?
  var topics: [String]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case pem, environment, topics
  }

  func certificate() throws(ProblemDetails) -> (certificate: RegisteredCertificate, der: [UInt8]) {
    guard let der = try? PEM.text(pem).certificatesAsDER().first else {
      throw ProblemDetails.unfit("pem is not a certificate")
    }
    guard !topics.isEmpty else { throw ProblemDetails.unfit("topics names at least one") }
    let environments = environment.map { [$0] } ?? Set(SimulatedEnvironment.allCases)
    return (RegisteredCertificate(environments: environments, topics: topics), der)
  }
}
