internal import FoundationEssentials
package import HTTP1
internal import HTTPTypes
package import Logging
package import Operations
package import PushRules
internal import PushStore
package import Reactors

/// Tells the story of an event's pushes: of all recipients, or of one.
package typealias ExplanationSource =
  @Sendable (_ subjectID: HostID, _ userID: HostID?, isolated Reactor) async throws -> [EventExplanation]

/// The pages under `/dashboard`, for the operator.
///
/// They are for people, and programs have the operations and `/metrics`; so `openapi.yaml`, which describes what programs
/// may rely on, does not have them. That is also why they are no routes of `PushRoutes`, all of which it describes.
package enum DashboardRoutes {
  /// Adds the pages to a service's routes.
  /// - Parameters:
  ///   - serviceKeys: any of which lets the operator in; without a key, the pages say how to set one.
  ///   - isTLS: whether the service itself is reached by TLS.
  ///   - routes: what this process knows of its routes to APNs, each reactor by itself.
  ///   - explanations: tells why a push came or did not.
  package static func add(
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
    page(DashboardLink.engagement) { try await dashboard.engagement($0, on: $1) }
    page(DashboardLink.events) { try await dashboard.events($0, on: $1) }
    form(DashboardLink.retryEvents) { request, reactor in
      try await dashboard.inside(request, on: reactor) { try await dashboard.retryEvents($0, on: $1) }
    }
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

enum DashboardLink {
  static let overview = "/dashboard"
  static let login = "/dashboard/login"
  static let logout = "/dashboard/logout"
  static let search = "/dashboard/search"
  static let pushes = "/dashboard/pushes"
  static let explanation = "/dashboard/explain"
  static let engagement = "/dashboard/engagement"
  static let events = "/dashboard/events"
  static let retryEvents = "/dashboard/events/retry"
  static let style = "/dashboard/style.css"

  static func login(then target: String) -> String {
    target == overview ? login : address(login, [("then", target)])
  }

  static func pushes(ofUser id: HostID, after last: LedgerEntry? = nil) -> String {
    address(
      pushes,
      [("user_id", text(id))] + (last.map { [("time", String($0.enqueuedAt)), ("after", $0.id.lowercased)] } ?? []))
  }

  static func pushes(ofSubject id: HostID, after last: LedgerEntry? = nil) -> String {
    address(
      pushes, [("subject_id", text(id))] + (last.map { [("after", text($0.userID)), ("kind", $0.kind)] } ?? []))
  }

  /// Why a push came or did not; of all recipients without a user.
  static func explanation(of subject: HostID, kind: String, userID: HostID?) -> String {
    address(
      explanation, [("subject_id", text(subject)), ("kind", kind)] + (userID.map { [("user_id", text($0))] } ?? []))
  }

  /// Whether a text is an address of ours to go to after the log-in; anything else could lead away.
  static func isPage(_ target: String) -> Bool {
    guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }) else { return false }
    return target == overview || target.hasPrefix(overview + "/") || target.hasPrefix(overview + "?")
  }

  private static func address(_ path: String, _ parameters: [(name: String, value: String)]) -> String {
    path + "?" + parameters.map { "\($0.name)=\(encoded($0.value))" }.joined(separator: "&")
  }

  /// Everything but the unreserved characters of RFC 3986 is encoded.
  private static func encoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return text.utf8.reduce(into: "") { encoded, byte in
      let character = Character(UnicodeScalar(byte))
      if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
        encoded.append(character)
      } else {
        encoded += ["%", digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
  }

  private static func text(_ id: HostID) -> String { id.text }
}
