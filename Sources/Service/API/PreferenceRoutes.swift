internal import FoundationEssentials
internal import HTTPServing
internal import HTTPTypes
internal import PushStore
internal import Reactors

/// `GET` and `PUT /v1/preferences`: what a user wants of pushes, as one document.
enum PreferenceRoutes {
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>) {
    group.addForClients(.get, "/v1/preferences", load: .documentRead) { user, _, reactor in
      try await answer(user, services.value(on: reactor).callers, on: reactor)
    }
    group.addForClients(
      .put, "/v1/preferences", hasContent: true, bodyBytesMax: PreferenceDocument.bytesMax, load: .documentWrite
    ) { user, request, reactor in
      let document = try RequestContent.decode(PreferenceDocument.self, from: request.body)
      let store = services.value(on: reactor).callers
      guard try await store.put(document.preferences, of: user, on: reactor) else {
        throw ProblemDetails.unprocessable(
          "quiet_hours.time_zone", "quiet_hours.time_zone is not the name of a known time zone.")
      }
      return try await answer(user, store, on: reactor)
    }
  }

  private static func answer(
    _ user: UUID, _ store: PushDatabase, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    HTTPServerResponse(json: PreferenceDocument(try await store.preferences(of: user, on: reactor)).json)
  }
}
