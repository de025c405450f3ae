internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Logging
internal import Postgres
internal import PushPipeline
internal import PushRules
internal import PushStore
internal import Reactors

/// `POST /v1/webhooks/messages` and `POST /v1/webhooks/{kind}`: a message was inserted, or an event of a watched kind
/// happened.
struct EventWebhook: Sendable {
  let authentication: WebhookAuthentication
  let failures: FailureGate
  let services: PerReactor<PushServices>
  let standardWait: Duration
  let logger: Logger

  /// The largest content of a signed webhook, in bytes: it is read before it proves anything. 64 KiB: the service's trigger
  /// sends a hundred.
  static let signedBytesMax = 64 * 1024

  /// Lets in who shows the secret, and reads on for those whose content must prove them.
  func admit(_ request: HTTPServerRequest, _ handler: @escaping HTTPHandler) throws(ProblemDetails) -> HTTPAdmitted {
    let fields = request.head.fields
    if authentication.acceptsBearer(fields) { return HTTPAdmitted(handler: handler) }
    guard let signature = WebhookSignature(fields, now: Int64(Date().timeIntervalSince1970)) else {
      throw refusal(of: request)
    }
    return HTTPAdmitted(bodyBytesMax: Self.signedBytesMax, isProven: false) { request, reactor in
      guard authentication.accepts(signature, of: request.body) else { throw refusal(of: request) }
      return try await handler(request, reactor)
    }
  }

  private func refusal(of request: HTTPServerRequest) -> ProblemDetails {
    failures.recordFailure(of: request.client) ?? .unauthorized
  }

  func handleMessage(
    _ request: HTTPServerRequest, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let body = try RequestContent.decode(
      WebhookBody.self, from: request.body, idTypes: services.value(on: reactor).idTypes, limits: .hostRow)
    let named = NamedEvent(subject: .message(body.messageID), recipientID: body.recipientID)
    return try await answer(to: named, request, on: reactor)
  }

  func handleEvent(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let body = try RequestContent.decode(
      EventWebhookBody.self, from: request.body, idTypes: services.value(on: reactor).idTypes, limits: .hostRow)
    let kind = request.parameter("kind")
    guard PushSubject.canBeKind(kind) else { throw ProblemDetails.noSuchEvent }
    let named = NamedEvent(subject: PushSubject(id: body.subjectID, kind: kind), recipientID: body.recipientID)
    return try await answer(to: named, request, on: reactor)
  }

  private func answer(
    to named: NamedEvent, _ request: HTTPServerRequest, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let preference = WaitPreference(request.head.fields, default: standardWait)
    do throws(PostgresError) {
      let services = services.value(on: reactor)
      // The host's trigger has most likely queued the event already: its push need not wait behind other callers.
      if !services.callers.isIdle { services.pipeline.wake(.webhook, on: reactor) }
      var status = try await services.callers.ingest(named.subject, on: reactor)
      if status == .pending {
        services.pipeline.wake(.webhook, on: reactor)
        status = try await services.outcome(of: named.subject, within: preference.limit, on: reactor)
      }
      return response(for: named, status, preference)
    } catch {
      let word = named.subject.kind == MessagePush.name ? "message" : "event"
      throw ProblemDetails.database(error, "The \(word) is safe and will be pushed.", logger)
    }
  }

  private func response(
    for named: NamedEvent, _ status: EventStatus, _ preference: WaitPreference
  ) -> HTTPServerResponse {
    switch status {
    case .unknown:
      return ProblemDetails.unknown(named.subject).response
    case .pending:
      return preference.response(.accepted, IngestAnswer(named.subject, outcomes: nil).json)
    case .decided(let outcomes):
      let relevant = outcomes.filter { named.recipientID == nil || $0.userID == named.recipientID }
      return preference.response(.ok, IngestAnswer(named.subject, outcomes: relevant).json)
    }
  }
}

/// What a webhook is about.
private struct NamedEvent {
  let subject: PushSubject
  /// Whom the answer is about; everybody when nil.
  let recipientID: HostID?
}

extension ProblemDetails {
  /// 404 for what is not in the database.
  fileprivate static func unknown(_ subject: PushSubject) -> ProblemDetails {
    subject.kind == MessagePush.name
      ? ProblemDetails(.notFound, detail: "There is no such message.") : .noSuchEvent
  }

  fileprivate static let noSuchEvent = ProblemDetails(
    .notFound, detail: "There is no such kind, or no such event of it.")

  /// The same words for every fault: an attacker learns nothing from them.
  static let unauthorized = ProblemDetails(
    .unauthorized, detail: "A valid webhook secret or signature is required.", fields: [.wwwAuthenticate: "Bearer"])
}
