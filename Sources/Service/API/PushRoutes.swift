package import HTTP1
internal import HTTPTypes
package import Logging
package import Reactors

/// Makes the text of `/metrics`, on the reactor that is asked.
package typealias MetricsText = @Sendable (isolated Reactor) async -> String

/// The operations of `openapi.yaml`.
package enum PushRoutes {
  /// Puts the routes together.
  /// - Parameters:
  ///   - callers: who may call the operations of apps and of other servers.
  ///   - devicesPerUserMax: devices that a user keeps, of each channel.
  ///   - offers: what browsers and Android apps register with.
  ///   - metrics: the text of `/metrics`; nil when it is served elsewhere.
  package static func make(
    services: PerReactor<PushServices>, authentication: WebhookAuthentication, callers: CallerAuthentication,
    webhookWait: Duration, devicesPerUserMax: Int, offers: TargetOffers = TargetOffers(),
    metrics: MetricsText?, logger: Logger
  ) -> HTTPRoutes {
    var group = RouteGroup(callers: callers, workers: authentication.workerTokens, logger: logger)
    let webhook = EventWebhook(
      authentication: authentication, failures: FailureGate(for: "webhook secret or signature", logger: logger),
      services: services, standardWait: webhookWait, logger: logger)
    group.add { routes in
      routes.add(
        .post, "/v1/webhooks/messages", mediaTypes: ["application/json"],
        admission: { request, _ in try webhook.admit(request) { try await webhook.handleMessage($0, on: $1) } })
      routes.add(
        .post, "/v1/webhooks/{kind}", mediaTypes: ["application/json"],
        admission: { request, _ in try webhook.admit(request) { try await webhook.handleEvent($0, on: $1) } })
      addOperation(to: &routes, services)
      ClientFileRoutes.add(to: &routes)
      if let metrics { addMetrics(to: &routes, metrics) }
    }
    DeviceRoutes.add(to: &group, services, devicesMax: devicesPerUserMax)
    TargetRoutes.add(to: &group, services, offers, targetsMax: devicesPerUserMax)
    if let offer = offers.webPush { WorkerRoutes.add(to: &group, services, offer) }
    PresenceRoutes.add(to: &group, services)
    ActivityRoutes.add(to: &group, services)
    ReadRoutes.add(to: &group, services)
    PreferenceRoutes.add(to: &group, services)
    PushSubmissionRoute.add(to: &group, services, wait: webhookWait)
    PushTriggerRoute.add(to: &group, services, wait: webhookWait)
    ExplainRoute.add(to: &group, services)
    ScheduleRoute.add(to: &group, services)
    SlotRoutes.add(to: &group, services)
    ReportRoutes.add(to: &group, services)
    ConfigRoute.add(to: &group, services)
    LiveActivityRoutes.add(to: &group, services)
    LiveActivityAppRoutes.add(to: &group, services)
    return group.routes
  }

  /// The operations for the operator.
  private static func addOperation(
    to routes: inout HTTPRoutes, _ services: PerReactor<PushServices>
  ) {
    let health = HealthRoutes(services: services)
    let openapi = Array(EmbeddedFiles.openapi_yaml.utf8)
    routes.add(
      .get, "/healthz", bodyBytesMax: RouteGroup.bodyBytesMax, isHealthCheck: true,
      immediate: { health.health($0, on: $1) })
    routes.add(
      .get, "/readyz", bodyBytesMax: RouteGroup.bodyBytesMax, isHealthCheck: true,
      immediate: { health.readiness($0, on: $1) })
    routes.add(
      .get, "/openapi.yaml", bodyBytesMax: RouteGroup.bodyBytesMax,
      immediate: { _, _ in
        HTTPServerResponse(
          status: .ok, fields: [.contentType: "application/yaml"], body: openapi)
      })
  }

  package static func addMetrics(to routes: inout HTTPRoutes, _ metrics: @escaping MetricsText) {
    routes.add(.get, "/metrics", bodyBytesMax: RouteGroup.bodyBytesMax) { _, reactor in
      await plain(metrics(reactor), "text/plain; version=0.0.4; charset=utf-8")
    }
  }

  private static func plain(_ text: String, _ mediaType: String) -> HTTPServerResponse {
    HTTPServerResponse(status: .ok, fields: [.contentType: mediaType], body: Array(text.utf8))
  }
}
