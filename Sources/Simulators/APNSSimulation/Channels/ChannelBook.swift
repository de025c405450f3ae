internal import DequeModule

/// The broadcast channels of all apps.
public struct ChannelBook: Sendable {
  /// The most channels of an app in one environment. Source: "Sending channel management requests to APNs" (Apple).
  public static let channelsMax = 10_000
  /// The deleted channels that each app remembers. A forgotten one counts as never issued.
  static let deletedMax = 10_000

  /// The state of an identifier.
  enum Standing: Equatable {
    case live(SimulatedChannel)
    case deleted
    case neverIssued
  }

  private struct Shelf {
    var live: [String: SimulatedChannel] = [:]
    var deleted: Set<String> = []
    var deletions: Deque<String> = []

    mutating func bury(_ identifier: String) {
      if deletions.count == deletedMax, let oldest = deletions.popFirst() { deleted.remove(oldest) }
      if deleted.insert(identifier).inserted { deletions.append(identifier) }
    }
  }

  private var shelves: [ChannelName.Owner: Shelf] = [:]

  /// No channels.
  public init() {}

  /// Adds a channel.
  /// - Returns: false when the app has too many; then nothing has changed.
  @discardableResult
  public mutating func add(_ channel: SimulatedChannel, as name: ChannelName) -> Bool {
    let count = shelves[name.owner]?.live.count ?? 0
    guard count < Self.channelsMax || self[name] != nil else { return false }
    shelves[name.owner, default: Shelf()].live[name.identifier] = channel
    return true
  }

  /// Deletes a channel.
  /// - Returns: whether it was there.
  @discardableResult
  public mutating func delete(_ name: ChannelName) -> Bool {
    guard shelves[name.owner]?.live.removeValue(forKey: name.identifier) != nil else { return false }
    shelves[name.owner]?.bury(name.identifier)
    return true
  }

  /// A channel that exists.
  public internal(set) subscript(name: ChannelName) -> SimulatedChannel? {
    get { shelves[name.owner]?.live[name.identifier] }
    set {
      guard let newValue, shelves[name.owner]?.live[name.identifier] != nil else { return }
      shelves[name.owner]?.live[name.identifier] = newValue
    }
  }

  /// The identifiers of an app's channels, in alphabetical order.
  public func identifiers(of owner: ChannelName.Owner) -> [String] {
    (shelves[owner]?.live.keys).map { $0.sorted() } ?? []
  }

  /// All channels, ordered by environment, app and identifier.
  var all: [(name: ChannelName, channel: SimulatedChannel)] {
    let owners = shelves.keys.sorted { ($0.environment.rawValue, $0.bundle) < ($1.environment.rawValue, $1.bundle) }
    return owners.flatMap { owner in
      identifiers(of: owner).compactMap { identifier in
        let name = ChannelName(identifier, of: owner)
        return self[name].map { (name, $0) }
      }
    }
  }

  /// Whether an app has all the channels it may have.
  func isFull(_ owner: ChannelName.Owner) -> Bool {
    (shelves[owner]?.live.count ?? 0) >= Self.channelsMax
  }

  func standing(of name: ChannelName) -> Standing {
    if let channel = self[name] { return .live(channel) }
    return shelves[name.owner]?.deleted.contains(name.identifier) == true ? .deleted : .neverIssued
  }
}
