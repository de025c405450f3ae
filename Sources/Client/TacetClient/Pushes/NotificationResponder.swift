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
