internal import HTTP1
internal import HTTPTypes
internal import SimulationControl

/// A misbehaviour on request, in JSON.
struct FaultDocument: ControlDocument, Encodable {
  enum Kind: String, Codable {
    /// A good request gets this answer. A refused one keeps its own.
    case answer
    /// A good message gets 429 of the project.
    case quota
    case delay
    /// The connection ends before the judgement.
    case dropBefore = "drop_before"
    /// The connection ends after the judgement: the message is delivered.
    case dropAfter = "drop_after"
    /// The request is read and never answered.
    case silence
  }

  enum Endpoint: String, Codable {
    case send, token
  }

  static let entriesMax = 10_000

  var kind: Kind
  /// `send` when absent.
  var endpoint: Endpoint?
  /// Requests of the endpoint that pass first; 0 when absent.
  var skip: Int?
  /// Requests that it hits; 1 when absent.
  var times: Int?
  /// Of `answer`: the HTTP status, and then either a content as it is, or the words of Google's envelope.
  var status: Int?
  var errorStatus: String?
  var errorCode: String?
  var message: String?
  var rawBody: String?
  /// Of `answer` and `quota`: the field `Retry-After`.
  var retryAfter: String?
  /// Of `quota`: false leaves the detail with `QUOTA_EXCEEDED` out.
  var hasCode: Bool?
  var delayMilliseconds: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, endpoint, skip, times, status, message
    case errorStatus = "error_status"
    case errorCode = "error_code"
    case rawBody = "raw_body"
    case retryAfter = "retry_after"
    case hasCode = "has_code"
    case delayMilliseconds = "delay_ms"
  }

  func concerns(_ endpoint: Endpoint) -> Bool { (self.endpoint ?? .send) == endpoint }

  /// - Throws: `ProblemDetails` that names a missing or meaningless member.
  func check() throws(ProblemDetails) {
    try ControlLimits.check("skip", skip, to: ControlLimits.countMax)
    try ControlLimits.check("times", times, from: 1, to: ControlLimits.countMax)
    try ControlLimits.check("delay_ms", delayMilliseconds)
    try ControlLimits.check("status", status, from: 200, to: 599)
    try refuseStrays()
    if kind == .answer, status == nil { throw ProblemDetails.unfit("status is missing") }
    if kind == .delay, delayMilliseconds == nil { throw ProblemDetails.unfit("delay_ms is missing") }
    if kind == .quota, endpoint == .token { throw ProblemDetails.unfit("quota is for send") }
    if let retryAfter, !HTTPField.isValidValue(retryAfter) {
      throw ProblemDetails.unfit("retry_after is no field value")
    }
  }

  /// Refuses members of other kinds, which would have no effect.
  private func refuseStrays() throws(ProblemDetails) {
    let owners: [(member: String, isThere: Bool, kinds: [Kind])] = [
      ("status", status != nil, [.answer]), ("error_status", errorStatus != nil, [.answer]),
      ("error_code", errorCode != nil, [.answer]), ("message", message != nil, [.answer]),
      ("raw_body", rawBody != nil, [.answer]), ("retry_after", retryAfter != nil, [.answer, .quota]),
      ("has_code", hasCode != nil, [.quota]), ("delay_ms", delayMilliseconds != nil, [.delay]),
    ]
    for owner in owners where owner.isThere && !owner.kinds.contains(kind) {
      throw ProblemDetails.unfit("\(owner.member) means nothing to \(kind.rawValue)")
    }
  }

  /// The refusal that a good message gets; nil for a fault without one, and for a content as it is.
  var refusal: GoogleError? {
    switch kind {
    case .quota: .projectQuota(hasCode: hasCode ?? true, retryAfter: retryAfter)
    case .answer where rawBody == nil:
      GoogleError(
        http: status ?? 500, status: errorStatus ?? "UNKNOWN", message: message ?? "The test says so.",
        details: errorCode.map { [.fcm($0)] } ?? [], retryAfter: retryAfter)
    default: nil
    }
  }

  var rawResponse: HTTPServerResponse? {
    guard kind == .answer, let rawBody else { return nil }
    var fields: HTTPFields = [.contentType: "text/html; charset=UTF-8"]
    if let retryAfter { fields[.retryAfter] = retryAfter }
    return HTTPServerResponse(
      status: HTTPResponse.Status(code: status ?? 200), fields: fields, body: Array(rawBody.utf8))
  }
}

extension [FaultDocument] {
  /// The fault of the next request of an endpoint; nil when it passes. Requests are counted over all connections.
  mutating func next(for endpoint: FaultDocument.Endpoint) -> FaultDocument? {
    guard let index = firstIndex(where: { $0.concerns(endpoint) }) else { return nil }
    if let skip = self[index].skip, skip > 0 {
      self[index].skip = skip - 1
      return nil
    }
    let fault = self[index]
    self[index].times = (fault.times ?? 1) - 1
    if self[index].times == 0 { remove(at: index) }
    return fault
  }
}
