#if canImport(UserNotifications) && !os(tvOS)
public import UserNotifications

// Linux has no UserNotifications, so this file is neither built nor tested there. It decides nothing: the types that use
// its protocols do.

/// `UNUserNotificationCenter` of the app.
public struct SystemNotificationCenter: LocalScheduler, AuthorizationCenter, CategoryRegistry {
  /// The app's own center.
  public init() {}

  private var center: UNUserNotificationCenter { .current() }

  /// The status of the settings.
  public func authorization() async -> DeviceRegistration.Authorization {
    switch await center.notificationSettings().authorizationStatus {
    case .denied: .denied
    case .notDetermined: .notDetermined
    case .provisional: .provisional
    default: .authorized
    }
  }

  /// Shows the system's question.
  public func request(_ options: AuthorizationOptions) async {
    let names: [(AuthorizationOptions, UNAuthorizationOptions)] = [
      (.alert, .alert), (.badge, .badge), (.sound, .sound), (.provisional, .provisional),
      (.providesAppNotificationSettings, .providesAppNotificationSettings),
    ]
    let asked = names.filter { options.contains($0.0) }.map(\.1)
    _ = try? await center.requestAuthorization(options: UNAuthorizationOptions(asked))
  }

  /// The requests that wait.
  public func pending() async -> [String] { await center.pendingNotificationRequests().map(\.identifier) }

  /// Adds a request with a calendar trigger that does not repeat.
  public func arm(_ notification: LocalNotification) async throws(ArmingError) {
    let content = UNMutableNotificationContent()
    content.title = notification.title
    content.body = notification.body
    content.sound = .default
    content.categoryIdentifier = notification.category
    content.threadIdentifier = notification.threadID
    content.userInfo = notification.userInfo
    let trigger = UNCalendarNotificationTrigger(dateMatching: notification.components, repeats: false)
    let request = UNNotificationRequest(identifier: notification.identifier, content: content, trigger: trigger)
    do { try await center.add(request) } catch {
      throw (error as? UNError)?.code == .notificationsNotAllowed ? .denied : .unusable
    }
  }

  /// Removes requests that wait.
  public func cancel(_ identifiers: [String]) async {
    center.removePendingNotificationRequests(withIdentifiers: identifiers)
  }

  /// Replaces the categories of the same identifiers.
  public func register(_ categories: [SlotConfiguration.Category]) async {
    let names = Set(categories.map(\.id))
    let others = await center.notificationCategories().filter { !names.contains($0.identifier) }
    center.setNotificationCategories(others.union(categories.map(Self.category)))
  }

  private static func category(_ category: SlotConfiguration.Category) -> UNNotificationCategory {
    let actions = category.actions.map {
      UNNotificationAction(identifier: $0.id, title: $0.title, options: $0.opensApp ? .foreground : [])
    }
    return UNNotificationCategory(
      identifier: category.id, actions: actions, intentIdentifiers: [], options: .customDismissAction)
  }
}

extension NotificationResponse {
  /// Reads the system's response.
  public init(_ response: UNNotificationResponse) {
    let content = response.notification.request.content
    self.init(
      Choice(response.actionIdentifier), content: PushContent(content.userInfo), category: content.categoryIdentifier)
  }
}

extension NotificationServiceContent {
  /// The content with what was sealed and the push's image; without either where that fails.
  /// - Parameter seal: opens sealed pushes; nil leaves them as they are.
  public func content(
    of request: UNNotificationRequest, opening seal: ContentSeal? = nil
  ) async -> UNNotificationContent {
    guard let content = request.content.mutableCopy() as? UNMutableNotificationContent else { return request.content }
    if let words = try? seal?.open(content.userInfo) {
      content.title = words.title ?? ""
      content.subtitle = words.subtitle ?? ""
      content.body = words.body ?? ""
      content.userInfo = words.userInfo(completing: content.userInfo)
    }
    if let file = await image(of: PushContent(content.userInfo)),
      let attachment = try? UNNotificationAttachment(identifier: "image", url: file)
    {
      content.attachments = [attachment]
    }
    return content
  }
}
#endif
