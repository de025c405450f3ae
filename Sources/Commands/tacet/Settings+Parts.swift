import APNS
import APNSCore
import PushPipeline
import PushStore
import Settings

extension PipelineConfiguration {
  /// The part of the settings that the pipeline needs.
  init(_ settings: ServeSettings) {
    self.init(policy: settings.suppression, defaultRoute: settings.apns.defaultRoute)
    instance = ServiceInstance.current.id
    apps = settings.apns.environments
    // Nobody notifies then, and a message without a webhook waits for the next look.
    if settings.database.poolMode == .transaction { schedule.longest = .milliseconds(250) }
  }
}

extension APNSSettings {
  /// Where device tokens belong that say nothing.
  var defaultRoute: PushRoute {
    PushRoute(app: defaultApp.bundleIdentifier, environment: defaultApp.environment)
  }

  /// Each app's environment.
  var environments: [BundleIdentifier: APNSEnvironment] {
    Dictionary(uniqueKeysWithValues: apps.map { ($0.bundleIdentifier, $0.environment) })
  }

  /// Where each environment is reached.
  var endpoints: [APNSEnvironment: APNSEndpoint] {
    Dictionary(
      uniqueKeysWithValues: APNSEnvironment.allCases.map { environment in
        let origin = origin(of: environment)
        return (environment, APNSEndpoint(host: origin.host, port: origin.port))
      })
  }
}
