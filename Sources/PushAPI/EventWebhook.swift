internal import FoundationEssentials
internal import HTTP1
internal import HTTPServing
internal import HTTPTypes
internal import Logging
internal import Postgres
internal import PushPipeline
internal import PushStore
internal import Reactors

/// `POST /v1/webhooks/messages`: a message was inserted.
struct MessageWebhook: Sendable {
  let authentication: WebhookAuthentication
  let failures: FailureGate
  let services: PerReactor<PushServices>
  let standardWait: Duration
  let logger: Logger

  func handle(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let now = Int64(Date().timeIntervalSince1970)
    guard authentication.accepts(request.head.fields, body: request.body, now: now) else {
      failures.noteFailure(of: request.client)
      throw ProblemDetails.unauthorized
    }
    let body = try RequestContent.decode(WebhookBody.self, from: request.body)
    let preference = WaitPreference(request.head.fields, default: standardWait)
    do throws(PostgresError) {
      return try await answer(to: body, preference, on: reactor)
    } catch {
      throw ProblemDetails.database(error, "The message is safe and will be pushed.", logger)
    }
  }

  private func answer(
    to body: WebhookBody, _ preference: WaitPreference, on reactor: isolated Reactor
  ) async throws(PostgresError) -> HTTPServerResponse {
    let services = services.value(on: reactor)
    var status = try await services.store.ingest(message: body.messageID, on: reactor)
    if status == .pending {
      services.pipeline.wake(.webhook, on: reactor)
      status = try await outcome(of: body.messageID, within: preference.limit, services, on: reactor)
    }
    return response(for: body, status, preference)
  }

  /// The pipeline of this reactor says when it has recorded the message. Another one may have claimed it: the ledger is
  /// asked as well, after 2 ms, 4 ms and so on, at most every quarter of a second.
  private func outcome(
    of messageID: UUID, within limit: Duration, _ services: PushServices, on reactor: isolated Reactor
  ) async throws(PostgresError) -> MessageStatus {
    let deadline = Reactor.now &+ limit.clampedNanoseconds
    var step = Duration.milliseconds(2)
    while true {
      let now = Reactor.now
      guard now < deadline else { return .pending }
      let wait = min(step, .nanoseconds(Int64(deadline - now)))
      await services.pipeline.waitForRecord(of: .message(messageID), wait, on: reactor)
      let status = try await services.store.status(ofMessage: messageID, on: reactor)
      if status != .pending { return status }
      step = min(step * 2, .milliseconds(250))
    }
  }

  private func response(
    for body: WebhookBody, _ status: MessageStatus, _ preference: WaitPreference
  ) -> HTTPServerResponse {
    var fields: HTTPFields = [.contentType: "application/json"]
    if let applied = preference.applied { fields[.preferenceApplied] = applied }
    switch status {
    case .unknown:
      return ProblemDetails(.notFound, detail: "There is no such message.").response
    case .pending:
      return HTTPServerResponse(status: .accepted, fields: fields, body: IngestAnswer(pending: body.messageID).json)
    case .decided(let outcomes):
      let relevant = outcomes.filter { body.recipientID == nil || $0.userID == body.recipientID }
      let answer = IngestAnswer(messageID: body.messageID, outcomes: relevant)
      return HTTPServerResponse(status: .ok, fields: fields, body: answer.json)
    }
  }
}

extension ProblemDetails {
  /// The same words for every fault: an attacker learns nothing from them.
  static let unauthorized = ProblemDetails(
    .unauthorized, detail: "A valid webhook secret or signature is required.", fields: [.wwwAuthenticate: "Bearer"])
}
