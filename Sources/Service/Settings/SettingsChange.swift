public import APNSCore

/// What is different after the settings were read again.
public struct SettingsChange: Equatable, Sendable {
  /// Apps that were not there before; like all lists, in the order of the settings.
  public let added: [BundleIdentifier]
  /// Apps that are there no more.
  public let removed: [BundleIdentifier]
  /// Apps with another team, key, environment or level of content.
  public let changed: [BundleIdentifier]
  /// The new app of device tokens that do not name theirs; nil when it has not changed.
  public let defaultApp: BundleIdentifier?
  /// Whether APNs is reached at other servers, or other authorities are trusted.
  public let reachesOtherwise: Bool
  /// Whether pushes to other channels than APNs bring more or fewer words.
  public let disclosesOtherwise: Bool
  /// The apps whose routes have new credentials or lead elsewhere, or that gain or lose the device tokens that name no
  /// app: what their routes have shown of tokens holds no more.
  public let renewed: Set<BundleIdentifier>

  /// Compares what is in effect with what was read.
  public init(from old: APNSSettings, to new: APNSSettings) {
    let before = Dictionary(uniqueKeysWithValues: old.apps.map { ($0.bundleIdentifier, $0) })
    let after = Set(new.apps.map(\.bundleIdentifier))
    added = new.apps.map(\.bundleIdentifier).filter { before[$0] == nil }
    removed = old.apps.map(\.bundleIdentifier).filter { !after.contains($0) }
    changed = new.apps.filter { before[$0.bundleIdentifier] ?? $0 != $0 }.map(\.bundleIdentifier)
    let first = new.defaultApp.bundleIdentifier
    let firstBefore = old.defaultApp.bundleIdentifier
    defaultApp = first == firstBefore ? nil : first
    reachesOtherwise = !new.reachesLike(old)
    disclosesOtherwise = old.content != new.content
    let defaults = first == firstBefore ? [] : after.intersection([first, firstBefore])
    renewed = reachesOtherwise ? after : defaults.union(added + changed)
  }

  /// Nothing is different.
  public var isEmpty: Bool {
    added.isEmpty && removed.isEmpty && changed.isEmpty && defaultApp == nil && !reachesOtherwise && !disclosesOtherwise
  }
}
