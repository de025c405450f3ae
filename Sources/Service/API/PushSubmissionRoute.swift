internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// `POST /v1/pushes`: another server sends a push to a user. `GET` and `DELETE /v1/pushes`
/// list and take back what waits.
enum PushSubmissionRoute {
  /// Waiting pushes of one answer. More wait for nobody whom a person looks after.
  private static let rowsMax = 100

  static func add(to group: inout RouteGroup, wait: Duration) {
    group.addForServices(.post, "/v1/pushes", hasContent: true) { request, services, reactor in
      try await submit(request, WaitPreference(request.head.fields, default: wait), services, on: reactor)
    }
    group.addForServices(.delete, "/v1/pushes") { request, services, reactor in
      let cancelled = try await cancel(request, services, on: reactor)
      return HTTPServerResponse(["cancelled": .count(cancelled)])
    }
    group.addForServices(.get, "/v1/pushes") { request, services, reactor in
      guard let user = try request.namedUser(services) else {
        throw ProblemDetails.content("user_id", "user_id is missing.")
      }
      let rows = try await services.callers.waitingPushes(of: user, rowsMax: rowsMax + 1, on: reactor)
      return HTTPServerResponse([
        "has_more": .boolean(rows.count > rowsMax),
        "pushes": .list(rows.prefix(rowsMax).map(document)),
      ])
    }
  }

  private static func document(_ push: WaitingPush) -> PayloadObject {
    [
      "cancel_key": .text(push.cancelKey), "due_at": .instant(push.dueAt), "kind": .text(push.kind),
      "push_id": .text(push.id.lowercased), "state": .text(push.state), "title": .text(push.title),
    ]
  }

  private static func cancel(
    _ request: HTTPServerRequest, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> Int {
    let query = try StrictQuery(request.head, known: ["cancel_key", "user_id"])
    if let user = try query.id("user_id", of: services.idTypes.users), query["cancel_key"] == nil {
      return try await services.callers.cancelPushes(of: user, on: reactor)
    }
    guard let key = query["cancel_key"], query["user_id"] == nil else {
      throw ProblemDetails.content("cancel_key", "Either cancel_key or user_id says which pushes.")
    }
    guard (1...ServicePushRequest.cancelKeyScalarsMax).contains(key.unicodeScalars.count), !key.utf8.contains(0) else {
      throw ProblemDetails.content(
        "cancel_key", "cancel_key must have 1 to \(ServicePushRequest.cancelKeyScalarsMax) characters.")
    }
    return try await services.callers.cancelPushes(key, on: reactor)
  }

  private static func submit(
    _ request: HTTPServerRequest, _ preference: WaitPreference, _ services: PushServices, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    var push = try RequestContent.decode(PushBody.self, from: request.body, idTypes: services.idTypes).submission
    if let key = request.head.fields[.idempotencyKey] {
      guard key.isVisibleASCII(upTo: 255) else {
        throw ProblemDetails.content("Idempotency-Key", "Idempotency-Key must be 1 to 255 visible characters.")
      }
      push.idempotencyKey = key
    }
    guard let submitted = try await services.callers.submit(push, on: reactor) else {
      throw ProblemDetails(
        .unprocessableContent, detail: "This Idempotency-Key was used for a push that says something else.")
    }
    var status = try await services.callers.status(of: submitted.subject, on: reactor)
    if status == .pending, !push.isForLater {
      services.pipeline.wake(.webhook, on: reactor)
      status = try await services.outcome(of: submitted.subject, within: preference.limit, on: reactor)
    }
    guard case .decided(let outcomes) = status else {
      return preference.response(.accepted, IngestAnswer(submitted.subject, logID: submitted.logID, outcomes: nil).json)
    }
    return preference.response(.ok, IngestAnswer(submitted.subject, logID: submitted.logID, outcomes: outcomes).json)
  }
}

extension PushSubmission {
  /// Whether no answer to it can be awaited. The service's clock need not be exact: an early answer is still true.
  fileprivate var isForLater: Bool { sendAt.map { $0 > TimeText.now } ?? false }
}

private struct PushBody: Decodable {
  let submission: PushSubmission

  init(from decoder: any Decoder) throws {
    let body = try decoder.members("user_id", besides: ServicePushRequest.memberNames)
    let userID = try body.decodeID(\.users, forKey: "user_id")
    let request = try ServicePushRequest(from: decoder)
    var submission = PushSubmission(
      userID: userID, kind: request.kind, title: request.title, body: request.body, data: request.data)
    submission.presentation = request.presentation
    submission.sendAt = request.sendAt
    submission.life = request.expiresIn.map { .seconds($0) }
    submission.cancelKey = request.cancelKey
    submission.capGroup = request.capGroup
    self.submission = submission
  }
}

extension HTTPField.Name {
  /// Of draft-ietf-httpapi-idempotency-key-header. The name is a token, so making it cannot fail.
  fileprivate static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}
