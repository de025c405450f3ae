package import HTTPTypes
package import PushRules

/// What an answer of FCM means for a push and its token.
///
/// Judges by the `errorCode`, then by the HTTP status. Source: Google, "FCM error codes" and "Scale FCM".
package enum FCMAnswer {
  /// The least wait after a fault of the service. Source: "Scale FCM".
  static let serviceWait = Duration.seconds(10)

  private static let identifierBytesMax = 256

  /// Reads an answer to `messages:send`.
  ///
  /// `dropToken` has no time, because FCM says none: a token that was registered after the send stays. `suspectToken`
  /// is `SENDER_ID_MISMATCH`, a token of another project, which a wrong service account causes for all tokens. A 401
  /// without a code is `refreshProviderToken`; the caller makes it `fixCredentials` when it happens again with a new
  /// token.
  /// - Parameters:
  ///   - status: 200 to 599.
  ///   - fields: the answer's header fields. `Retry-After` counts up to an hour.
  ///   - body: the content; may be anything.
  package static func attempt(status: Int, fields: HTTPFields, body: [UInt8]) -> DeliveryAttempt {
    if 200...299 ~= status { return accepted(status, body) }
    let refusal = FCMRefusal(body)
    let asked = RetryAfter.wait(fields)
    let ruling = ruling(status, refusal, asked)
    var attempt = DeliveryAttempt(
      ruling.disposition, status: status, reason: refusal.code ?? refusal.status ?? "http_\(status)",
      fault: ruling.fault)
    // Google wants ten seconds before the first retry after a fault of its own.
    attempt.askedWait = max(asked ?? .zero, ruling.fault == .service ? serviceWait : .zero)
    return attempt
  }

  private static func ruling(_ status: Int, _ refusal: FCMRefusal, _ asked: Duration?) -> AnswerTable.Ruling {
    let word = refusal.faultsToken && status == 400 ? malformedToken : refusal.code ?? ""
    var ruling = table.ruling(onStatus: status, word: word)
    guard case .retryLater(let usual) = ruling.disposition else { return ruling }
    if ruling.fault == .service {
      ruling.disposition = .retryLater(minimumWait: max(asked ?? .zero, usual))
    } else {
      ruling.disposition = .retryLater(minimumWait: asked ?? usual)
      // A quota of the project holds every push. Any other 429 concerns one device.
      if refusal.quotaLimit?.hasSuffix("PerProject") == true { ruling.fault = .throttle }
    }
    return ruling
  }

  /// Stands for `INVALID_ARGUMENT` with the field of the token.
  private static let malformedToken = "message.token"

  private static let table = AnswerTable([
    .init(400...499, "UNREGISTERED", to: .dropToken),
    .init(400...499, "SENDER_ID_MISMATCH", to: .suspectToken),
    .init(400...499, "THIRD_PARTY_AUTH_ERROR", to: .fixCredentials),
    .init(400, malformedToken, to: .dropToken),
    .init(400...499, "QUOTA_EXCEEDED", to: .tooMany),
    // Without a code.
    .init(401, "", to: .refreshProviderToken),
    .init(401, to: .fixCredentials),
    .init(403...404, to: .fixCredentials),
    .init(408, to: .outage(serviceWait)),
    .init(429, to: .tooMany),
    .init(400...499, to: .fixRequest),
    // Also redirects: FCM sends none, so they come from something in between.
    .init(300...599, to: .outage(serviceWait)),
  ])

  /// Any success means that FCM took the message. Its name is `projects/P/messages/ID`.
  private static func accepted(_ status: Int, _ body: [UInt8]) -> DeliveryAttempt {
    var attempt = DeliveryAttempt(.accepted, status: status)
    guard body.count <= FCMRefusal.bytesMax,
      let name = PayloadObject(reading: body)?.text("name"),
      let identifier = name.split(separator: "/", omittingEmptySubsequences: false).last,
      1...identifierBytesMax ~= identifier.utf8.count, identifier.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return attempt }
    attempt.identifier = String(identifier)
    return attempt
  }
}

/// What FCM says about a refusal: Google's error envelope, `{"error":{"code","message","status","details":[…]}}`.
///
/// Details come in any order, or not at all. A member of a wrong type counts as missing, so that a strange answer never
/// hides the words that are there. Source: google.rpc.Status and error_details.proto; FCM, "ErrorCode".
struct FCMRefusal: Equatable {
  /// The largest answer that is read, in bytes. Google's have up to 2 KiB.
  static let bytesMax = 64 * 1024

  /// `error.status`, such as `NOT_FOUND`.
  private(set) var status: String?

  /// `errorCode` of the detail `google.firebase.fcm.v1.FcmError`.
  private(set) var code: String?

  /// `metadata.quota_limit` of the detail `google.rpc.ErrorInfo`.
  private(set) var quotaLimit: String?

  /// Whether the refusal is of the token, which is malformed. Details may be missing, and then the sentence for people says it.
  private(set) var faultsToken = false

  /// Reads an answer. Anything but the envelope gives a value without words.
  init(_ body: [UInt8]) {
    guard body.count <= Self.bytesMax, let error = PayloadObject(reading: body)?.object("error") else { return }
    status = error.text("status").flatMap { AnswerWord($0)?.text }
    var fields: [String] = []
    for detail in error.objects("details") {
      let type = detail.text("@type") ?? ""
      if type.hasSuffix("google.firebase.fcm.v1.FcmError") {
        code = code ?? detail.text("errorCode").flatMap { AnswerWord($0)?.text }
      }
      if type.hasSuffix("google.rpc.BadRequest") {
        fields += detail.objects("fieldViolations").compactMap { $0.text("field") }
      }
      if type.hasSuffix("google.rpc.ErrorInfo") {
        quotaLimit = quotaLimit ?? detail.object("metadata")?.text("quota_limit")
      }
    }
    let saysToken = error.text("message")?.contains("registration token is not a valid") == true
    guard code ?? status == "INVALID_ARGUMENT" else { return }
    faultsToken = fields.isEmpty ? saysToken : code != nil && fields.contains("message.token")
  }
}
