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
struct PushSubmissionRoute: Sendable {
  let services: PerReactor<PushServices>
  let standardWait: Duration

  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>, wait: Duration) {
    let route = PushSubmissionRoute(services: services, standardWait: wait)
    group.addForServices(.post, "/v1/pushes", hasContent: true) { try await route.handle($0, on: $1) }
    group.addForServices(.delete, "/v1/pushes") { try await route.cancel($0, on: $1) }
    group.addForServices(.get, "/v1/pushes") { try await route.list($0, on: $1) }
  }

  func cancel(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let query = try StrictQuery(request.head, known: ["cancel_key", "user_id"])
    let services = services.value(on: reactor)
    if let user = try query.id("user_id", of: services.idTypes.users), query["cancel_key"] == nil {
      let answer = Cancellation(cancelled: try await services.callers.cancelPushes(of: user, on: reactor))
      return HTTPServerResponse(json: answer.json)
    }
    guard let key = query["cancel_key"], query["user_id"] == nil else {
      throw ProblemDetails.content("cancel_key", "Either cancel_key or user_id says which pushes.")
    }
    guard (1...ServicePushRequest.cancelKeyScalarsMax).contains(key.unicodeScalars.count), !key.utf8.contains(0) else {
      throw ProblemDetails.content(
        "cancel_key", "cancel_key must have 1 to \(ServicePushRequest.cancelKeyScalarsMax) characters.")
    }
    let answer = Cancellation(cancelled: try await services.callers.cancelPushes(key, on: reactor))
    return HTTPServerResponse(json: answer.json)
  }

  func list(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let services = services.value(on: reactor)
    let query = try StrictQuery(request.head, known: ["user_id"])
    guard let user = try query.id("user_id", of: services.idTypes.users) else {
      throw ProblemDetails.content("user_id", "user_id is missing.")
    }
    let rows = try await services.callers.waitingPushes(of: user, rowsMax: WaitingPushes.rowsMax + 1, on: reactor)
    return HTTPServerResponse(json: WaitingPushes(rows).json)
  }

  func handle(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let services = services.value(on: reactor)
    var push = try RequestContent.decode(PushBody.self, from: request.body, idTypes: services.idTypes).submission
    push.idempotencyKey = try Self.idempotencyKey(of: request)
    let preference = WaitPreference(request.head.fields, default: standardWait)
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
      return preference.response(
        .accepted, IngestAnswer(submitted.subject, logID: submitted.logID, outcomes: nil).json)
    }
    return preference.response(
      .ok, IngestAnswer(submitted.subject, logID: submitted.logID, outcomes: outcomes).json)
  }

  /// 1 to 255 visible characters of ASCII; nil without the field.
  private static func idempotencyKey(of request: HTTPServerRequest) throws(ProblemDetails) -> String? {
    guard let key = request.head.fields[.idempotencyKey] else { return nil }
    guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .content("Idempotency-Key", "Idempotency-Key must be 1 to 255 visible characters.")
    }
    return key
  }
}

private struct WaitingPushes: JSONAnswer {
  /// Of one answer. More wait for nobody whom a person looks after.
  static let rowsMax = 100

  struct Push: Encodable {
    let pushID: String
    let kind: String
    let title: String
    let dueAt: String
    let state: String
    let cancelKey: String?
  }

  let pushes: [Push]
  let hasMore: Bool

  init(_ rows: [WaitingPush]) {
    pushes = rows.prefix(Self.rowsMax).map {
      Push(
        pushID: $0.id.uuidString.lowercased(), kind: $0.kind, title: $0.title, dueAt: TimeText.instant($0.dueAt),
        state: $0.state, cancelKey: $0.cancelKey)
    }
    hasMore = rows.count > Self.rowsMax
  }
}

/// How many pushes that wait were cancelled.
private struct Cancellation: JSONAnswer {
  let cancelled: Int
}

extension PushSubmission {
  /// Whether no answer to it can be awaited. The service's clock need not be exact: an early answer is still true.
  fileprivate var isForLater: Bool {
    sendAt.map { Double($0) / 1_000_000 > Date().timeIntervalSince1970 } ?? false
  }
}

private struct PushBody: Decodable {
  let submission: PushSubmission

  private enum Key: String, CodingKey, CaseIterable {
    case userID = "user_id"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self, besides: ServicePushRequest.memberNames)
    let userID = try body.decodeID(\.users, forKey: .userID)
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
