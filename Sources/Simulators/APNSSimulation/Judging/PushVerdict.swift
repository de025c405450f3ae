/// What a push asks for, as far as the judge got before it refused: the rest keeps its defaults.
public struct JudgedPush: Equatable, Sendable {
  /// The device token as sent.
  public var token = ""
  /// `apns-topic`, or the only topic of a client certificate.
  public var topic = ""
  /// `apns-push-type`; nil when absent.
  public var pushType: SimulatedPushType?
  /// `apns-priority`; 10 when absent.
  public var priority = 10
  /// `apns-expiration` in Unix seconds; nil when absent.
  public var expirationSeconds: Int64?
  /// `apns-collapse-id`; nil when absent.
  public var collapseID: String?
  /// Enough of the provider token's SHA-256 to tell two tokens apart, in hexadecimal; nil without a token.
  public var providerTokenHash: String?

  /// Whether the service keeps the push for a device that is away: not with expiration 0 and not past its time.
  public func isStored(at now: WallInstant) -> Bool {
    guard let expirationSeconds else { return true }
    return expirationSeconds > now.seconds
  }
}

/// The judge's answer to one request, and what it saw on the way.
public struct PushVerdict: Sendable {
  /// The HTTP status.
  public let status: Int
  /// The reason in the body; nil with 200 and with scripted answers that have none.
  public let reason: String?
  /// The `timestamp` in the body, in milliseconds since 1970; only with 410.
  public let timestampMilliseconds: Int64?
  /// The `apns-id` field: the request's, or one that was made, in upper case.
  public let identifier: String
  /// The `apns-unique-id` field: on successes of the sandbox.
  public let uniqueIdentifier: String?
  /// The body; empty with 200.
  public let body: [UInt8]
  /// What the push asked for.
  public let push: JudgedPush
  /// Whether the service would keep the push for a device that is away.
  public let isStored: Bool
  /// What was accepted and should not have been sent.
  public let findings: [LintFinding]
  /// How much longer than usual the answer takes, in milliseconds.
  public let delayMilliseconds: Int

  /// The fields of the answer besides `:status`, in lower case.
  public var fields: [(name: String, value: String)] {
    var fields = [(name: "apns-id", value: identifier)]
    if let uniqueIdentifier { fields.append((name: "apns-unique-id", value: uniqueIdentifier)) }
    if !body.isEmpty { fields.append((name: "content-type", value: contentType)) }
    return fields
  }

  private var contentType: String { reason == nil ? "text/html" : "application/json" }
}
