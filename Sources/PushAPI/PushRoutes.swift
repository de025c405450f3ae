public import HTTPServing
internal import HTTPTypes
public import Logging
public import Reactors

/// The operations of `openapi.yaml`.
public enum PushRoutes {
  /// Puts the routes together.
  /// - Parameters:
  ///   - callers: who may call the operations of apps and of other servers.
  ///   - failures: counts those who cannot prove who they are.
  ///   - devicesPerUserMax: devices that a user keeps.
  ///   - metrics: the text of `/metrics`, made on the reactor that is asked.
  public static func make(
    services: PerReactor<PushServices>, authentication: WebhookAuthentication, callers: CallerAuthentication,
    failures: FailureGate, webhookWait: Duration, devicesPerUserMax: Int,
    metrics: @escaping @Sendable (isolated Reactor) async -> String, logger: Logger
  ) -> HTTPRoutes {
    var group = RouteGroup(callers: callers, failures: failures, logger: logger)
    let webhook = EventWebhook(
      authentication: authentication, failures: failures, services: services, standardWait: webhookWait, logger: logger)
    group.add { routes in
      routes.add(
        .post, "/v1/webhooks/messages", mediaTypes: ["application/json"],
        admission: { failures.refusal(of: $0) },
        handler: { try await webhook.handleMessage($0, on: $1) })
      routes.add(
        .post, "/v1/webhooks/{kind}", mediaTypes: ["application/json"],
        admission: { failures.refusal(of: $0) },
        handler: { try await webhook.handleEvent($0, on: $1) })
      addOperation(to: &routes, services, metrics)
    }
    DeviceRoutes.add(to: &group, services, devicesMax: devicesPerUserMax)
    PresenceRoutes.add(to: &group, services)
    ReadRoutes.add(to: &group, services)
    PreferenceRoutes.add(to: &group, services)
    PushSubmissionRoute.add(to: &group, services, wait: webhookWait)
    PushTriggerRoute.add(to: &group, services, wait: webhookWait)
    ExplainRoute.add(to: &group, services)
    return group.routes
  }

  /// What whoever runs the service asks.
  private static func addOperation(
    to routes: inout HTTPRoutes, _ services: PerReactor<PushServices>,
    _ metrics: @escaping @Sendable (isolated Reactor) async -> String
  ) {
    let health = HealthRoutes(services: services)
    routes.add(.get, "/healthz", isHealthCheck: true, immediate: { health.health($0, on: $1) })
    routes.add(.get, "/readyz", isHealthCheck: true, immediate: { health.readiness($0, on: $1) })
    routes.add(.get, "/metrics", handler: { await plain(metrics($1), "text/plain; version=0.0.4; charset=utf-8") })
    routes.add(
      .get, "/openapi.yaml",
      immediate: { _, _ in
        HTTPServerResponse(
          status: .ok, fields: [.contentType: "application/yaml"], body: PackageResources.openapi_yaml)
      })
  }

  private static func plain(_ text: String, _ mediaType: String) -> HTTPServerResponse {
    HTTPServerResponse(status: .ok, fields: [.contentType: mediaType], body: Array(text.utf8))
  }
}
