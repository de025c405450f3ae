internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Logging
internal import Operations
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
  private func admit(_ request: HTTPServerRequest, _ handler: @escaping HTTPHandler) throws(ProblemDetails)
    -> HTTPAdmitted
  {
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

  func add(to routes: inout HTTPRoutes) {
    routes.add(
      .post, "/v1/webhooks/messages", mediaTypes: ["application/json"],
      admission: { request, _ in
        try admit(request) { request, reactor in
          let body: WebhookBody = try decode(request, on: reactor)
          let named = NamedEvent(subject: .message(body.messageID), recipientID: body.recipientID)
          return try await answer(to: named, request, on: reactor)
        }
      })
    routes.add(
      .post, "/v1/webhooks/{kind}", mediaTypes: ["application/json"],
      admission: { request, _ in
        try admit(request) { request, reactor in
          let body: EventWebhookBody = try decode(request, on: reactor)
          let kind = request.parameter("kind")
          guard PushSubject.canBeKind(kind) else { throw ProblemDetails.noSuchEvent }
          let named = NamedEvent(subject: PushSubject(id: body.subjectID, kind: kind), recipientID: body.recipientID)
          return try await answer(to: named, request, on: reactor)
        }
      })
  }

  private func decode<Body: Decodable>(_ request: HTTPServerRequest, on reactor: isolated Reactor) throws -> Body {
    try RequestContent.decode(
      from: request.body, idTypes: services.value(on: reactor).idTypes, limits: .hostRow)
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

/// What a message webhook names. Its three forms are hints: what is sent is read from the database. The envelope may have
/// other members, since its sender decides on them; the other two may not.
///
/// - the database-webhook envelope: `{"type": "INSERT", "table": …, "schema": …, "record": {"id": …}}`
/// - the message alone: `{"message_id": …}`
/// - one recipient's: `{"recipient_user_id": …, "message_id": …, …}`; the answer is then about that recipient
struct WebhookBody: Decodable, Equatable {
  let messageID: HostID
  let recipientID: HostID?

  init(from decoder: any Decoder) throws {
    let record = try decoder.envelopeRecord(
      \.messages, types: ["INSERT"], "must be INSERT; only new messages are pushed")
    (messageID, recipientID) =
      try record.map { ($0, nil) }
      ?? decoder.named(
        "message_id", \.messages, besides: ["conversation_id", "sender_name", "message_preview"])
  }
}

/// What a webhook about a watched kind names; as for messages, what is sent is read from the database, and the envelope
/// may have other members.
///
/// - the database-webhook envelope: `{"type": "INSERT" or "UPDATE", "table": …, "schema": …, "record": {"id": …}}`
/// - the subject alone, or with one recipient: `{"subject_id": …, "recipient_user_id": …}`
struct EventWebhookBody: Decodable, Equatable {
  let subjectID: HostID
  let recipientID: HostID?

  init(from decoder: any Decoder) throws {
    let record = try decoder.envelopeRecord(
      \.subjects, types: ["INSERT", "UPDATE"], "must be INSERT or UPDATE; what is gone is not pushed")
    (subjectID, recipientID) =
      try record.map { ($0, nil) } ?? decoder.named("subject_id", \.subjects)
  }
}

extension Decoder {
  /// The id of the record in a database webhook's envelope; nil for another form.
  fileprivate func envelopeRecord(
    _ kind: KeyPath<IDTypes, IDTypes.IDType>, types: [String], _ demand: String
  ) throws -> HostID? {
    let body = try container(keyedBy: MemberName.self)
    guard body.contains("record") || body.contains("type") else { return nil }
    // By bytes: texts of rows may have any number of combining marks, which cost quadratic time as texts.
    let type = try body.decode(String.self, forKey: "type")
    try body.require(types.contains { $0.hasSameBytes(as: type) }, "type", demand)
    return try body.nestedContainer(keyedBy: MemberName.self, forKey: "record").decodeID(kind, forKey: "id")
  }

  /// What a body names, and the recipient if it names one.
  /// - Parameter others: members that are not used.
  fileprivate func named(
    _ name: String, _ kind: KeyPath<IDTypes, IDTypes.IDType>, besides others: [String] = []
  ) throws -> (HostID, HostID?) {
    let body = try members(name, "recipient_user_id", besides: others)
    return (
      try body.decodeID(kind, forKey: MemberName(stringValue: name)),
      body.contains("recipient_user_id") ? try body.decodeID(\.users, forKey: "recipient_user_id") : nil
    )
  }
}

/// How long a caller wants to wait for an outcome: the `Prefer` field of RFC 7240.
struct WaitPreference: Equatable {
  /// The longest wait: longer than any push takes, shorter than what proxies cut off.
  static let longest = Duration.seconds(60)

  let limit: Duration

  /// What to confirm in `Preference-Applied`; nil when the default applies.
  let applied: String?

  /// `respond-async` does not wait, `wait=N` waits N seconds, both together too (section 4.3 there), and without either
  /// the default holds. What cannot be understood is ignored, as the RFC asks.
  init(_ fields: HTTPFields, default standard: Duration) {
    let wishes = fields[values: .prefer].flatMap { $0.split(separator: ",") }.map(Self.withoutParameters)
    let isAsynchronous = wishes.contains { $0.lowercased() == "respond-async" }
    let seconds = wishes.lazy.compactMap(Self.seconds).first.map { min($0, Self.longest.components.seconds) }
    switch (isAsynchronous, seconds) {
    case (true, nil): self.init(limit: .zero, applied: "respond-async")
    case (true, let seconds?): self.init(limit: .seconds(seconds), applied: "respond-async, wait=\(seconds)")
    case (false, let seconds?): self.init(limit: .seconds(seconds), applied: "wait=\(seconds)")
    case (false, nil): self.init(limit: standard, applied: nil)
    }
  }

  private init(limit: Duration, applied: String?) {
    self.limit = limit
    self.applied = applied
  }

  private static func seconds(_ wish: Substring) -> Int64? {
    let parts = wish.split(separator: "=", maxSplits: 1)
    guard parts.count == 2, trimmed(parts[0]).lowercased() == "wait" else { return nil }
    let value = unquoted(trimmed(parts[1]))
    guard !value.isEmpty, value.utf8.count <= 6, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int64(value)
  }

  /// A preference may have parameters behind a semicolon, which are ignored.
  private static func withoutParameters(_ wish: Substring) -> Substring {
    trimmed(wish.prefix { $0 != ";" })
  }

  private static func unquoted(_ value: Substring) -> Substring {
    guard value.count >= 2, value.first == "\"", value.last == "\"" else { return value }
    return value.dropFirst().dropLast()
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}

extension WaitPreference {
  /// An answer that confirms what was asked for.
  func response(_ status: HTTPResponse.Status, _ json: [UInt8]) -> HTTPServerResponse {
    var fields: HTTPFields = [.contentType: "application/json"]
    if let applied { fields[.preferenceApplied] = applied }
    return HTTPServerResponse(status: status, fields: fields, body: json)
  }
}

extension HTTPField.Name {
  // Our own constants, so making them cannot fail (RFC 7240).

  static let prefer = Self("prefer")!
  static let preferenceApplied = Self("preference-applied")!
}

/// The answer to a webhook or to a submitted push: the outcome of the event for each recipient.
struct IngestAnswer {
  private let subject: PushSubject
  /// The ledger's row of a submitted push; nil for a webhook.
  private let logID: UUID?
  /// Nil while the event is undecided.
  private let outcomes: [RecordedOutcome]?

  /// - Parameters:
  ///   - logID: the ledger's row of a submitted push; nil for a webhook.
  ///   - outcomes: nil while the event is undecided.
  init(_ subject: PushSubject, logID: UUID? = nil, outcomes: [RecordedOutcome]?) {
    self.subject = subject
    self.logID = logID
    self.outcomes = outcomes
  }

  /// The reason that all recipients share, if they do.
  var reason: String? {
    guard let outcomes else { return nil }
    guard let first = outcomes.first else { return "no_recipients" }
    return outcomes.allSatisfy { $0.reason == first.reason } ? first.reason : nil
  }

  /// The document in UTF-8, its members in the order of their names.
  var json: [UInt8] {
    let isMessage = subject.kind == MessagePush.name
    let isSent = outcomes?.contains { $0.decision == .sent } ?? false
    let document: PayloadObject = [
      "message_id": logID == nil && isMessage ? .text(subject.id.text) : nil,
      "push_id": logID == nil ? nil : .text(subject.id.text), "push_log_id": .text(logID?.lowercased),
      "reason": .text(reason), "recipients": .list((outcomes ?? []).map(Self.document)), "sent": .boolean(isSent),
      "skipped": .boolean(outcomes != nil && !isSent),
      "subject_id": logID == nil && !isMessage ? .text(subject.id.text) : nil,
    ]
    return document.encoded()
  }

  private static func document(_ outcome: RecordedOutcome) -> PayloadObject {
    [
      "decision": .text(outcome.decision.rawValue),
      "devices": outcome.devicesAccepted > 0 ? .count(outcome.devicesAccepted) : nil, "reason": .text(outcome.reason),
      "until": .instant(outcome.heldUntil), "user_id": .text(outcome.userID.text),
    ]
  }
}
