public import API
internal import Callers
public import Explanations
public import FoundationEssentials
public import HTTPServing
internal import HTTPTypes
public import Logging
public import Reactors

/// Tells the story of an event's pushes: of all recipients, or of one.
public typealias ExplanationSource =
  @Sendable (_ subjectID: UUID, _ userID: UUID?, isolated Reactor) async throws -> [EventExplanation]

/// The pages under `/dashboard`, for whoever runs the service.
///
/// They are for people, and programs have the operations and `/metrics`; so `openapi.yaml`, which describes what programs
/// may rely on, has none of them. That is also why they are no routes of `PushRoutes`, all of which it describes.
public enum DashboardRoutes {
  /// Adds the pages to a service's routes.
  /// - Parameters:
  ///   - serviceKeys: any of which lets somebody in; with none, the pages say how to set one.
  ///   - isTLS: whether the service itself is reached by TLS.
  ///   - routes: what this process knows of its routes to APNs, each reactor by itself.
  ///   - explanations: tells why a push came or did not.
  public static func add(
    to table: inout HTTPRoutes, services: PerReactor<PushServices>, serviceKeys: [String], isTLS: Bool,
    routes: @escaping @Sendable () async -> [RouteCondition],
    explanations: @escaping ExplanationSource, logger: Logger
  ) {
    let dashboard = Dashboard(
      services: services, sessions: DashboardSessions(serviceKeys), isTLS: isTLS,
      failures: FailureGate(for: "service key of a log-in", logger: logger), routes: routes,
      explanations: explanations, logger: logger)
    func page(_ path: String, _ handler: @escaping HTTPHandler) {
      table.add(
        .get, path, bodyBytesMax: FormBody.bytesMax, handler: { try await dashboard.inside($0, on: $1, handler) })
    }
    func form(_ path: String, _ handler: @escaping HTTPHandler) {
      table.add(
        .post, path, mediaTypes: ["application/x-www-form-urlencoded"], bodyBytesMax: FormBody.bytesMax,
        handler: { request, reactor in
          guard request.head.comesFromOwnPage else { return dashboard.refuseForm() }
          return try await handler(request, reactor)
        })
    }
    page(DashboardLink.overview) { try await dashboard.overview($0, on: $1) }
    page(DashboardLink.pushes) { try await dashboard.pushes($0, on: $1) }
    page(DashboardLink.explanation) { try await dashboard.explanation($0, on: $1) }
    form(DashboardLink.search) { request, reactor in
      try await dashboard.inside(request, on: reactor) { try await dashboard.search($0, on: $1) }
    }
    form(DashboardLink.login) { request, _ in dashboard.logIn(request) }
    form(DashboardLink.logout) { request, _ in dashboard.logOut(request) }
    table.add(
      .get, DashboardLink.login, bodyBytesMax: FormBody.bytesMax,
      immediate: { request, _ in dashboard.loginForm(request) })
    table.add(.get, DashboardLink.style, bodyBytesMax: FormBody.bytesMax, immediate: { _, _ in Page.styles() })
  }
}
