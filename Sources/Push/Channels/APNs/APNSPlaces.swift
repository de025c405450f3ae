package import PushRules

/// The apps that pushes go to, and what is meant by a device token that names none.
package struct APNSPlaces: Equatable, Sendable {
  /// The apps with credentials, each with the APNs environment of device tokens that do not name theirs.
  package var apps: [BundleIdentifier: APNSEnvironment]

  /// The app of device tokens that do not name theirs, and the environment of those that name neither.
  package var defaultRoute: PushRoute

  /// - Parameter apps: the default route's alone without any.
  package init(defaultRoute: PushRoute, apps: [BundleIdentifier: APNSEnvironment]? = nil) {
    self.defaultRoute = defaultRoute
    self.apps = apps ?? [defaultRoute.app: defaultRoute.environment]
  }

  /// The route to a device.
  /// - Throws: `bundleIdentifierMalformed` when the registration names an app that cannot be one.
  package func route(to target: PushTarget) throws(PushRequestError) -> PushRoute {
    let app = try target.app.map { name throws(PushRequestError) in try BundleIdentifier(name) } ?? defaultRoute.app
    let environment = target.environment.flatMap(APNSEnvironment.init)
    return PushRoute(app: app, environment: environment ?? apps[app] ?? defaultRoute.environment)
  }
}
