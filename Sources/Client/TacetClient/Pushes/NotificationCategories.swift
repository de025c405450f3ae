internal import Foundation

/// Where categories are registered: `UNUserNotificationCenter`, or a test's list.
public protocol CategoryRegistry: Sendable {
  /// Registers categories, and keeps those of the app that have other identifiers.
  func register(_ categories: [SlotConfiguration.Category]) async
}

/// The categories of the service's notifications, with their buttons. Without them notifications show no buttons.
///
/// Call ``refresh()`` at each start of the app. The last configuration is kept, so that a start without a network registers
/// too.
public actor NotificationCategories {
  /// The most categories, and of each the most buttons: the system shows four.
  static let categoriesMax = 64
  static let actionsMax = 4
  /// The longest label, in characters. The system cuts longer ones.
  static let titleCharactersMax = 64
  private static let name = "configuration"

  private let client: PushServiceClient
  private let registry: any CategoryRegistry
  private let store: any ClientStore
  private var known: SlotConfiguration?

  /// Reads what was kept.
  public init(_ client: PushServiceClient, registry: any CategoryRegistry, store: any ClientStore = FileStore()) {
    self.client = client
    self.registry = registry
    self.store = store
    known = store.load(Self.name).flatMap { try? JSONDecoder().decode(KeptConfiguration.self, from: $0) }?.configuration
  }

  /// The last configuration; nil before the first.
  public var configuration: SlotConfiguration? { known }

  /// Reads the configuration and registers its categories. When the service cannot be reached, it registers the last ones.
  /// - Returns: the failure of the call; nil when there was none.
  @discardableResult
  public func refresh() async -> PushServiceError? {
    var failure: PushServiceError?
    do throws(PushServiceError) {
      if let found = try await client.configuration(unless: known) {
        known = found.bounded
        let kept = JSONEncoder().content(KeptConfiguration(found.bounded))
        try? store.save(kept, as: Self.name)
      }
    } catch { failure = error }
    if let known { await registry.register(known.categories) }
    return failure
  }

  /// Whether a button opens the app.
  /// - Returns: nil when the configuration does not know the button.
  public func opensApp(_ button: String, of category: String) -> Bool? {
    let category = known?.categories.first { $0.id == category }
    return category?.actions.first { $0.id == button }?.opensApp
  }
}

extension SlotConfiguration {
  /// What the system can show of it.
  fileprivate var bounded: SlotConfiguration {
    typealias Limits = NotificationCategories
    var bounded = self
    bounded.categories = categories.prefix(Limits.categoriesMax).map { category in
      var category = category
      category.actions = category.actions.prefix(Limits.actionsMax).map { action in
        var action = action
        action.title = String(action.title.prefix(Limits.titleCharactersMax))
        return action
      }
      return category
    }
    return bounded
  }
}

/// A configuration with its entity tag.
private struct KeptConfiguration: Codable {
  private let document: SlotConfiguration
  private let tag: String

  init(_ configuration: SlotConfiguration) {
    document = configuration
    tag = configuration.tag
  }

  var configuration: SlotConfiguration {
    var configuration = document
    configuration.tag = tag
    return configuration
  }
}
