internal import Delivery
public import PushRules

/// What the operator lets pushes say.
public struct ContentPolicy: Equatable, Sendable {
  /// For every push.
  public var service: ContentLevel

  /// For pushes to an app, by its identifier.
  public var apps: [String: ContentLevel]

  /// The app of device tokens that do not name theirs.
  public var defaultApp: String?

  /// Everything, unless it says otherwise.
  public init(service: ContentLevel = .full, apps: [String: ContentLevel] = [:], defaultApp: String? = nil) {
    self.service = service
    self.apps = apps
    self.defaultApp = defaultApp
  }

  /// Whether nothing is kept back from any app.
  var isFull: Bool { service == .full && apps.isEmpty }

  /// What a push to a target may say.
  func level(for target: PushTarget) -> ContentLevel {
    guard let app = target.app ?? (target.channel == .apns ? defaultApp : nil), let own = apps[app] else {
      return service
    }
    return service.strictest(own)
  }
}
