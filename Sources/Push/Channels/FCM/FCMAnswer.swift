internal import FoundationEssentials
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
    let disposition = disposition(status, refusal, asked)
    var attempt = DeliveryAttempt(
      disposition, status: status, reason: refusal.code ?? refusal.status ?? "http_\(status)",
      fault: fault(status, refusal, disposition))
    // Google wants ten seconds before the first retry after a fault of its own.
    attempt.askedWait = max(asked ?? .zero, attempt.fault == .service ? serviceWait : .zero)
    return attempt
  }

  private static func disposition(_ status: Int, _ refusal: FCMRefusal, _ asked: Duration?) -> PushDisposition {
    switch (status, refusal.code) {
    case (400...499, "UNREGISTERED"): .dropToken(invalidSinceMilliseconds: nil)
    case (400...499, "SENDER_ID_MISMATCH"): .suspectToken
    case (400...499, "THIRD_PARTY_AUTH_ERROR"): .fixCredentials
    case (400, "INVALID_ARGUMENT") where refusal.fields.contains("message.token"),
      (400, "INVALID_ARGUMENT") where refusal.fields.isEmpty && refusal.namesToken,
      (400, nil) where refusal.status == "INVALID_ARGUMENT" && refusal.fields.isEmpty && refusal.namesToken:
      .dropToken(invalidSinceMilliseconds: nil)
    case (429, _), (400...499, "QUOTA_EXCEEDED"): .retryLater(minimumWait: asked ?? PushDisposition.tooManyWait)
    case (401, nil): .refreshProviderToken
    case (401, _), (403, _), (404, _): .fixCredentials
    case (408, _): .retryLater(minimumWait: max(asked ?? .zero, serviceWait))
    case (400...499, _): .fixRequest
    // Also redirects: FCM sends none, so they come from something in between.
    default: .retryLater(minimumWait: max(asked ?? .zero, serviceWait))
    }
  }

  /// A quota of the project holds every push. Any other 429 concerns one device.
  private static func fault(
    _ status: Int, _ refusal: FCMRefusal, _ disposition: PushDisposition
  ) -> DeliveryFault? {
    switch disposition {
    case .fixCredentials: .configuration
    case .retryLater where status == 429 || refusal.code == "QUOTA_EXCEEDED":
      refusal.quotaLimit?.hasSuffix("PerProject") == true ? .throttle : nil
    case .retryLater: .service
    default: nil
    }
  }

  /// Any success means that FCM took the message. Its name is `projects/P/messages/ID`.
  private static func accepted(_ status: Int, _ body: [UInt8]) -> DeliveryAttempt {
    var attempt = DeliveryAttempt(.accepted, status: status)
    guard body.count <= FCMRefusal.bytesMax,
      let name = (try? JSONDecoder().decode(Success.self, from: Data(body)))?.name,
      let identifier = name.split(separator: "/", omittingEmptySubsequences: false).last,
      1...identifierBytesMax ~= identifier.utf8.count, identifier.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return attempt }
    attempt.identifier = String(identifier)
    return attempt
  }

  private struct Success: Decodable {
    let name: String
  }
}

extension RetryAfter {
  /// The wait of an answer's fields; nil for a date that has passed. Google says to give up after 60 minutes ("Scale FCM").
  static func wait(_ fields: HTTPFields) -> Duration? {
    wait(fields[.retryAfter], date: fields[.date], atMost: .seconds(3600), passed: nil)
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

  /// The fields of the detail `google.rpc.BadRequest`, such as `message.token`.
  private(set) var fields: [String] = []

  /// `metadata.quota_limit` of the detail `google.rpc.ErrorInfo`.
  private(set) var quotaLimit: String?

  /// Whether the sentence for people says that the token is malformed. Details may be missing.
  private(set) var namesToken = false

  /// Reads an answer. Anything but the envelope gives a value without words.
  init(_ body: [UInt8]) {
    guard body.count <= Self.bytesMax,
      let envelope = try? JSONDecoder().decode(Envelope.self, from: Data(body)), let error = envelope.error
    else { return }
    status = error.status.flatMap { AnswerWord($0)?.text }
    namesToken = error.message?.contains("registration token is not a valid") == true
    for detail in error.details { take(detail) }
  }

  private mutating func take(_ detail: Detail) {
    let type = detail.type ?? ""
    if type.hasSuffix("google.firebase.fcm.v1.FcmError") {
      code = code ?? detail.errorCode.flatMap { AnswerWord($0)?.text }
    }
    if type.hasSuffix("google.rpc.BadRequest") { fields += detail.fields }
    if type.hasSuffix("google.rpc.ErrorInfo") { quotaLimit = quotaLimit ?? detail.quotaLimit }
  }
}

private struct Envelope: Decodable {
  struct Failure: Decodable {
    let status: String?
    let message: String?
    let details: [Detail]

    enum CodingKeys: CodingKey {
      case status, message, details
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      status = try? values.decode(String.self, forKey: .status)
      message = try? values.decode(String.self, forKey: .message)
      details = (try? values.decode([Detail].self, forKey: .details)) ?? []
    }
  }

  let error: Failure?
}

/// One detail of any type. Never fails.
private struct Detail: Decodable {
  private(set) var type: String?
  private(set) var errorCode: String?
  private(set) var fields: [String] = []
  private(set) var quotaLimit: String?

  private enum CodingKeys: String, CodingKey {
    case type = "@type"
    case errorCode, fieldViolations, metadata
  }

  private struct Violation: Decodable {
    let field: String?
  }

  private struct Metadata: Decodable {
    let limit: String?

    enum CodingKeys: String, CodingKey {
      case limit = "quota_limit"
    }
  }

  init(from decoder: any Decoder) throws {
    guard let values = try? decoder.container(keyedBy: CodingKeys.self) else { return }
    type = try? values.decode(String.self, forKey: .type)
    errorCode = try? values.decode(String.self, forKey: .errorCode)
    fields = ((try? values.decode([Violation].self, forKey: .fieldViolations)) ?? []).compactMap(\.field)
    quotaLimit = (try? values.decode(Metadata.self, forKey: .metadata))?.limit
  }
}
