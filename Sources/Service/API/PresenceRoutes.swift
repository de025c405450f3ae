internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// `PUT` and `DELETE` of `last-seen`: an app says that its user is looking, or has left.
enum PresenceRoutes {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    let signs: [(HTTPRequest.Method, PresenceSign)] = [(.put, .looking), (.delete, .left)]
    for (method, sign) in signs {
      group.addForClients(method, "/v1/conversations/{id}/last-seen") { user, request, reactor in
        let type = services.value(on: reactor).idTypes.conversations
        let surface = SurfaceID.conversation(try request.id("id", of: type))
        return try await record(sign, of: SurfaceView(of: surface, by: user), services, on: reactor)
      }
      group.addForClients(method, "/v1/surfaces/{kind}/{id}/last-seen") { user, request, reactor in
        let type = services.value(on: reactor).idTypes.conversations
        let surface = SurfaceID(kind: try request.surfaceKind, id: try request.id("id", of: type))
        return try await record(sign, of: SurfaceView(of: surface, by: user), services, on: reactor)
      }
    }
  }

  private static func record(
    _ sign: PresenceSign, of view: SurfaceView, _ services: PerReactor<PushServices>, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let standing = try await services.value(on: reactor).presence.note(sign, of: view, on: reactor)
    try standing.requireViewer(of: view.surface)
    services.value(on: reactor).activity.note(view.userID, on: reactor)
    return HTTPServerResponse(status: .noContent)
  }
}

extension SurfaceStanding {
  /// Refuses a user who takes no part: 404 for a surface that does not exist, 403 for one that does.
  func requireViewer(of surface: SurfaceID) throws(ProblemDetails) {
    let noun = surface.kind == SurfaceID.conversationKind ? "conversation" : "surface"
    switch self {
    case .viewer: break
    case .unknown: throw ProblemDetails(.notFound, detail: "There is no such \(noun).")
    case .stranger: throw ProblemDetails(.forbidden, detail: "The user takes no part in this \(noun).")
    case .busy:
      throw ProblemDetails(
        .serviceUnavailable, detail: "The \(noun) is being changed. The request can be sent again.",
        fields: [.retryAfter: "1"])
    case .unwritable: throw ProblemDetails.missingRight
    }
  }
}

extension HTTPServerRequest {
  /// The kind of surface that the path names: a lower-case letter, then at most 62 of `a`–`z`, `0`–`9` and `_`.
  fileprivate var surfaceKind: String {
    get throws(ProblemDetails) {
      let kind = parameter("kind")
      guard PushSubject.canBeKind(kind) else { throw .content("kind", "kind must match ^[a-z][a-z0-9_]{0,62}$.") }
      return kind
    }
  }
}
