internal import FoundationEssentials

/// A broadcast channel of one app in one environment.
public struct SimulatedChannel: Equatable, Sendable {
  /// The messages that a channel keeps for later subscribers. It is fixed at the channel's creation.
  public enum StoragePolicy: Int, Codable, CaseIterable, Sendable {
    /// None.
    case nothing = 0
    /// The newest, for at most eight hours.
    case newest = 1
  }

  /// A message that waits for later subscribers.
  struct Stored: Equatable, Sendable {
    let push: ActivityPush
    let origin: ActivityPush.Origin
    let until: WallInstant
  }

  /// What it keeps.
  public let policy: StoragePolicy
  /// The number of accepted broadcasts.
  public internal(set) var messages = 0

  var stored: Stored?

  /// A channel without messages.
  public init(policy: StoragePolicy) {
    self.policy = policy
  }

  /// The longest that a message is kept, in microseconds. Source: "Sending channel management requests to APNs" (Apple).
  static let storedMicrosecondsMax: Int64 = 8 * 3600 * 1_000_000

  /// Takes an accepted broadcast, which replaces the kept one.
  mutating func take(_ push: ActivityPush?, from origin: ActivityPush.Origin, expirationSeconds: Int64) {
    messages += 1
    guard policy == .newest else { return }
    let (wanted, overflows) = expirationSeconds.multipliedReportingOverflow(by: 1_000_000)
    let latest = origin.at.microseconds + Self.storedMicrosecondsMax
    let until = overflows ? latest : min(wanted, latest)
    stored = push.map { Stored(push: $0, origin: origin, until: WallInstant(microseconds: until)) }
  }

  /// The message for a subscriber that joins now.
  func message(at now: WallInstant) -> Stored? {
    stored.flatMap { $0.until > now ? $0 : nil }
  }
}

/// The name of a channel: channels of different apps or environments may have equal identifiers.
public struct ChannelName: Hashable, Sendable {
  /// The app and environment of a channel.
  public struct Owner: Hashable, Sendable {
    /// The service that issued the channel.
    public let environment: SimulatedEnvironment
    /// The app's bundle identifier.
    public let bundle: String

    /// An owner from its parts.
    public init(environment: SimulatedEnvironment, bundle: String) {
      self.environment = environment
      self.bundle = bundle
    }
  }

  /// The app and environment.
  public let owner: Owner
  /// The identifier in standard base64.
  public let identifier: String

  /// A name from its parts.
  public init(_ identifier: String, of owner: Owner) {
    self.owner = owner
    self.identifier = identifier
  }

  /// More than any identifier that was seen: those have 24 characters.
  private static let charactersMax = 256

  /// Whether a text is standard base64 (RFC 4648 §4) of a possible length.
  static func isIdentifier(_ text: String) -> Bool {
    guard !text.isEmpty, text.utf8.count <= charactersMax else { return false }
    return Data(base64Encoded: text) != nil
  }
}
