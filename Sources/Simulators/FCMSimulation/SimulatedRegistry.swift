internal import Cryptography

/// What the stand-in knows: projects, service accounts, access tokens and devices.
struct SimulatedRegistry {
  /// More than any test registers, of each kind.
  static let entriesMax = 100_000

  /// The project of registrations without one.
  private(set) var firstProject = "demo-project"
  private(set) var projects: [String: SimulatedProject] = [:]
  private(set) var accounts: [String: SimulatedAccount] = [:]
  private(set) var bearers: [String: SimulatedBearer] = [:]
  private(set) var devices: [String: SimulatedDevice] = [:]

  /// The project of a path, which has its identifier or its number.
  func project(_ name: String) -> (identifier: String, project: SimulatedProject)? {
    if let project = projects[name] { return (name, project) }
    return projects.first { $0.value.number.map { "\($0)" } == name }.map { ($0.key, $0.value) }
  }

  mutating func add(_ project: SimulatedProject, _ identifier: String) -> Bool {
    if projects.isEmpty { firstProject = identifier }
    return Self.add(project, identifier, to: &projects)
  }

  /// Adds an account, and its project unless it is known.
  mutating func add(_ account: SimulatedAccount) -> Bool {
    if projects[account.project] == nil, !add(SimulatedProject(), account.project) { return false }
    return Self.add(account, account.email, to: &accounts)
  }

  /// When there are too many, the others end.
  mutating func add(_ bearer: SimulatedBearer, _ token: String) -> Bool {
    if bearers.count >= Self.entriesMax { removeBearers() }
    return Self.add(bearer, token, to: &bearers)
  }

  mutating func add(_ device: SimulatedDevice, _ token: String) -> Bool {
    Self.add(device, token, to: &devices)
  }

  mutating func removeDevice(_ token: String) -> Bool { devices.removeValue(forKey: token) != nil }

  mutating func removeBearers() { bearers = [:] }

  mutating func withDevice<Result>(_ token: String, _ body: (inout SimulatedDevice) -> Result) -> Result? {
    guard let index = devices.index(forKey: token) else { return nil }
    return body(&devices.values[index])
  }

  private static func add<Entry>(_ entry: Entry, _ name: String, to entries: inout [String: Entry]) -> Bool {
    guard entries.count < entriesMax || entries[name] != nil else { return false }
    entries[name] = entry
    return true
  }
}

struct SimulatedProject: Equatable {
  var number: Int64?
  /// Whether the interface is switched on.
  var isEnabled = true
}

struct SimulatedAccount {
  let email: String
  let project: String
  let keyIdentifier: String
  let key: RSAPublicKey
  /// Whether it may send.
  var hasRole = true
}

/// An access token.
struct SimulatedBearer {
  let project: String
  let hasRole: Bool
  /// Whether its scope allows to send.
  let hasScope: Bool
  /// Simulated milliseconds since 1970.
  let endsAt: Int64
}
