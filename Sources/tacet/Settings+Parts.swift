import APNS
import APNSCore
import PushPipeline
import ServiceSettings

extension PipelineConfiguration {
  /// The part of the settings that the pipeline needs.
  init(_ settings: ServeSettings) {
    self.init(
      policy: settings.suppression,
      defaultRoute: PushRoute(app: settings.apns.bundleIdentifier, environment: settings.apns.environment))
    // Nobody notifies then, and a message without a webhook waits for the next look.
    if settings.database.poolMode == .transaction { schedule.longest = .milliseconds(250) }
  }
}

extension APNSSettings {
  /// Where each environment is reached.
  var endpoints: [APNSEnvironment: APNSEndpoint] {
    Dictionary(
      uniqueKeysWithValues: APNSEnvironment.allCases.map { environment in
        let origin = origin(of: environment)
        return (environment, APNSEndpoint(host: origin.host, port: origin.port))
      })
  }
}
