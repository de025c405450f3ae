/// What the operator lets pushes say.
package struct ContentPolicy: Equatable, Sendable {
  package var service: ContentLevel

  /// For pushes to an app, by its identifier.
  package var apps: [String: ContentLevel]

  /// The app of device tokens that do not name theirs.
  package var defaultApp: String?

  package init(service: ContentLevel = .full, apps: [String: ContentLevel] = [:], defaultApp: String? = nil) {
    self.service = service
    self.apps = apps
    self.defaultApp = defaultApp
  }

  var isFull: Bool { service == .full && apps.isEmpty }

  func level(for target: PushTarget) -> ContentLevel {
    guard let app = target.app ?? (target.channel == .apns ? defaultApp : nil), let own = apps[app] else {
      return service
    }
    return service.strictest(own)
  }
}
