public import Foundation

/// What the user did with a notification. `UNNotificationResponse` without the system's types.
public struct NotificationResponse: Hashable, Sendable {
  /// What was touched.
  public enum Choice: Hashable, Sendable {
    /// The notification itself.
    case notification
    /// It was dismissed. The system reports it of categories with that option alone.
    case dismissal
    /// A button, by its identifier.
    case button(String)

    /// Reads the system's identifier.
    /// - Parameter actionIdentifier: of `UNNotificationResponse`.
    public init(_ actionIdentifier: String) {
      switch actionIdentifier {
      case "com.apple.UNNotificationDefaultActionIdentifier": self = .notification
      case "com.apple.UNNotificationDismissActionIdentifier": self = .dismissal
      default: self = .button(actionIdentifier)
      }
    }
  }

  /// What was touched.
  public var choice: Choice
  /// What the notification carries.
  public var content: PushContent
  /// The category of the notification.
  public var category: String
  /// When the user did it.
  public var date: Date

  /// Describes a response.
  public init(_ choice: Choice, content: PushContent, category: String = "", date: Date = Date()) {
    self.choice = choice
    self.content = content
    self.category = category
    self.date = date
  }
}

/// Reports what users do with notifications, and names the screen to open.
///
///     func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async {
///       if let route = await responder.handle(NotificationResponse(response)) { router.open(route) }
///     }
public struct NotificationResponder: Sendable {
  private let queue: TelemetryQueue
  private let categories: NotificationCategories?

  /// - Parameters:
  ///   - queue: stores the reports before this type returns, so that no report is lost when the system suspends the app.
  ///   - categories: tells which of the host's own buttons open the app; without it all do that the service does not know.
  public init(_ queue: TelemetryQueue, categories: NotificationCategories? = nil) {
    self.queue = queue
    self.categories = categories
  }

  /// Stores the reports, tries to send them once, and returns.
  /// - Returns: the screen to open; nil when the app was not opened.
  @discardableResult
  public func handle(_ response: NotificationResponse) async -> NotificationRoute? {
    let route = await route(of: response)
    await queue.add(reports(of: response, opensApp: route != nil))
    await queue.flush()
    return route
  }

  private func route(of response: NotificationResponse) async -> NotificationRoute? {
    switch response.choice {
    case .notification: return NotificationRoute(button: nil, of: response.content)
    case .dismissal: return nil
    case .button(let button):
      if await categories?.opensApp(button, of: response.category) == false { return nil }
      return NotificationRoute(button: button, of: response.content)
    }
  }

  private func reports(of response: NotificationResponse, opensApp: Bool) -> [TelemetryQueue.Report] {
    var reports: [TelemetryQueue.Report] = []
    let content = response.content
    let slot = content.slotIdentifier
    if case .button(let button) = response.choice, let slot, SlotAction.isName(button) {
      reports.append(.action(SlotAction(button, of: slot, at: response.date)))
    }
    let isDismissal = response.choice == .dismissal
    if let slot, let time = content.slot, opensApp || isDismissal {
      var event = SlotEvent(isDismissal ? .dismissed : .opened, slot: time, identifier: slot, due: response.date)
      event.date = response.date
      reports.append(.event(event))
    }
    if let id = content.pushLogID, opensApp || slot == nil && !isDismissal { reports.append(.opened(id)) }
    return reports
  }
}

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

/// What an app asks the user to allow. `UNAuthorizationOptions` of UserNotifications.
public struct AuthorizationOptions: OptionSet, Hashable, Sendable {
  /// The bits of the members.
  public let rawValue: Int

  /// Joins members by their bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Words on the screen.
  public static let alert = Self(rawValue: 1)
  /// A number on the app's icon.
  public static let badge = Self(rawValue: 2)
  /// Sounds.
  public static let sound = Self(rawValue: 4)
  /// Quiet delivery to the list without a question. The user decides later, on the first notification.
  public static let provisional = Self(rawValue: 8)
  /// A button in the system's settings that opens the app's own.
  public static let providesAppNotificationSettings = Self(rawValue: 16)
  /// All of them.
  public static let standard: Self = [.alert, .badge, .sound, .provisional, .providesAppNotificationSettings]
}

/// Where permission is asked for: `UNUserNotificationCenter`, or a test's user.
public protocol AuthorizationCenter: Sendable {
  /// What the app may show now.
  func authorization() async -> DeviceRegistration.Authorization

  /// Asks the user, unless the user has decided. Errors count as a refusal.
  func request(_ options: AuthorizationOptions) async
}

/// The user's permission to show notifications, reported to the service with the device's registration.
public struct NotificationPermission: Sendable {
  private let client: PushServiceClient
  private let center: any AuthorizationCenter

  /// Makes it without a question to the user.
  public init(_ client: PushServiceClient, center: any AuthorizationCenter) {
    self.client = client
    self.center = center
  }

  /// Registers the device with what the app may show. It asks no question; call it at each start of the app.
  /// - Returns: what the app may show.
  @discardableResult
  public func register(
    _ device: DeviceRegistration
  ) async throws(PushServiceError) -> DeviceRegistration.Authorization {
    var device = device
    let status = await center.authorization()
    device.authorization = status
    try await client.register(device)
    return status
  }

  /// Asks the user, and registers the device with the answer. Call it after the user has switched on something that
  /// notifies, never at the start of the app: a refusal is final.
  /// - Parameters:
  ///   - device: nil while the app has no device token; then the next registration reports the answer.
  ///   - options: without `provisional` the system shows its question at once.
  /// - Returns: what the app may show.
  @discardableResult
  public func ask(
    registering device: DeviceRegistration?, _ options: AuthorizationOptions = .standard
  ) async throws(PushServiceError) -> DeviceRegistration.Authorization {
    let status = await center.authorization()
    if status == .notDetermined || status == .provisional && !options.contains(.provisional) {
      await center.request(options)
    }
    guard let device else { return await center.authorization() }
    return try await register(device)
  }
}
