internal import FoundationEssentials

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
