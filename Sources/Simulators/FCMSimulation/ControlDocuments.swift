internal import Cryptography
internal import HTTP1
internal import SimulationControl

struct DeviceDocument: ControlDocument {
  /// The project whose messages its token takes; the first project when absent.
  var project: String?
  /// The app; any when absent.
  var package: String?
  /// `registered` when absent.
  var state: SimulatedDevice.State?
  /// Days since the app last connected; 0 when absent.
  var inactiveDays: Int?
  /// True when absent.
  var online: Bool?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case project, package, state, online
    case inactiveDays = "inactive_days"
  }

  func device(_ books: Books) throws(ProblemDetails) -> SimulatedDevice {
    try ControlLimits.check("inactive_days", inactiveDays, to: 36_500)
    let lastActiveAt = books.now - Int64(inactiveDays ?? 0) * 86_400_000
    var device = SimulatedDevice(project: project ?? books.registry.firstProject, lastActiveAt: lastActiveAt)
    device.package = package
    device.state = state ?? .registered
    if online == false { device.setOnline(false, now: books.now) }
    return device
  }
}

/// A change of a device's connection.
struct ConnectionDocument: ControlDocument {
  var online: Bool

  enum CodingKeys: String, CodingKey, CaseIterable {
    case online
  }
}

struct ProjectDocument: ControlDocument {
  var number: Int64?
  /// True when absent.
  var enabled: Bool?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case number
    case enabled = "api_enabled"
  }
}

/// A service account: Google's file, whose other members are ignored.
struct AccountDocument: Decodable {
  let email: String
  let project: String
  let keyIdentifier: String
  let privateKey: String
  /// Whether the account may send; true when absent.
  let role: Bool?

  enum CodingKeys: String, CodingKey {
    case role
    case email = "client_email"
    case project = "project_id"
    case keyIdentifier = "private_key_id"
    case privateKey = "private_key"
  }

  func account() throws(ProblemDetails) -> SimulatedAccount {
    guard let key = try? RSAPrivateKey(pem: privateKey) else {
      throw ProblemDetails.unfit("private_key is not an RSA key")
    }
    return SimulatedAccount(
      email: email, project: project, keyIdentifier: keyIdentifier, key: key.publicKey, hasRole: role ?? true)
  }
}

/// An access token without an exchange.
struct BearerDocument: ControlDocument {
  var token: String
  /// The first project when absent.
  var project: String?
  /// 3599 when absent. Negative for a token that has ended.
  var expiresIn: Int?
  /// Whether its account may send, and whether its scope allows it; true when absent.
  var role: Bool?
  var scope: Bool?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case token, project, role, scope
    case expiresIn = "expires_in"
  }

  func bearer(_ books: Books) throws(ProblemDetails) -> SimulatedBearer {
    try ControlLimits.check(
      "expires_in", expiresIn, from: -ControlLimits.secondsMax, to: ControlLimits.secondsMax)
    return SimulatedBearer(
      project: project ?? books.registry.firstProject, hasRole: role ?? true, hasScope: scope ?? true,
      endsAt: books.now + Int64(expiresIn ?? Books.expiresIn) * 1000)
  }
}

struct ClockDocument: ControlDocument {
  var advanceMilliseconds: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case advanceMilliseconds = "advance_ms"
  }

  func check() throws(ProblemDetails) {
    let range = -ControlLimits.clockMillisecondsMax...ControlLimits.clockMillisecondsMax
    guard range.contains(advanceMilliseconds) else { throw ProblemDetails.unfit("advance_ms is at most a century") }
  }
}

/// A change of the conduct; what is absent stays.
struct ConductDocument: ControlDocument, Encodable {
  var delayMilliseconds: Int?
  var reversesDetails: Bool?
  var acceptsAnyToken: Bool?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case delayMilliseconds = "delay_ms"
    case reversesDetails = "reverse_details"
    case acceptsAnyToken = "accept_any_token"
  }

  func change(_ conduct: inout Conduct) throws(ProblemDetails) {
    try ControlLimits.check("delay_ms", delayMilliseconds)
    if let delayMilliseconds { conduct.delayMilliseconds = delayMilliseconds }
    if let reversesDetails { conduct.reversesDetails = reversesDetails }
    if let acceptsAnyToken { conduct.acceptsAnyToken = acceptsAnyToken }
  }
}
