internal import Crypto
internal import FoundationEssentials
internal import HTTPTypes

/// Checks that a webhook comes from somebody who knows a secret, in constant time.
///
/// Two ways, either is enough: `Authorization: Bearer <secret>`, or a signature as Standard Webhooks asks
/// (`webhook-id`, `webhook-timestamp`, `webhook-signature: v1,<base64 HMAC-SHA-256>` over `id.timestamp.body`). Several
/// secrets may be valid at once, so that they can be rotated.
public struct WebhookAuthentication: Sendable {
  /// One secret in its two uses.
  public struct Key: Sendable {
    let bearer: String
    let signingKey: [UInt8]

    /// - Parameters:
    ///   - bearer: the secret as it stands in the header. signingKey: the key of signatures.
    public init(bearer: String, signingKey: [UInt8]) {
      self.bearer = bearer
      self.signingKey = signingKey
    }
  }

  /// How far the signature's time may be from ours, in seconds: a captured webhook is worthless afterwards. Source:
  /// Standard Webhooks, "Verifying webhooks with timestamp".
  static let toleranceSeconds: Int64 = 300

  private let bearers: BearerKeys
  private let signingKeys: [SymmetricKey]

  /// Accepts any of these keys.
  public init(_ keys: [Key]) {
    bearers = BearerKeys(keys.map(\.bearer))
    signingKeys = keys.map { SymmetricKey(data: $0.signingKey) }
  }

  /// Whether the request is authentic.
  /// - Parameters:
  ///   - body: as it came. now: Unix seconds.
  func accepts(_ fields: HTTPFields, body: [UInt8], now: Int64) -> Bool {
    if let bearer = fields.bearerToken, bearers.accepts(bearer) { return true }
    return acceptsSignature(fields, body: body, now: now)
  }

  private func acceptsSignature(_ fields: HTTPFields, body: [UInt8], now: Int64) -> Bool {
    guard let id = fields[.webhookID], let timestamp = fields[.webhookTimestamp],
      timestamp.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(timestamp),
      (now - Self.toleranceSeconds...now + Self.toleranceSeconds).contains(seconds)
    else { return false }
    let signed = Array("\(id).\(timestamp).".utf8) + body
    let signatures = signatures(in: fields)
    // One code for each key, however many signatures there are to compare with it in constant time.
    return !signatures.isEmpty
      && signingKeys.contains { key in
        let code = HMAC<SHA256>.authenticationCode(for: signed, using: key)
        return signatures.contains { code == $0 }
      }
  }

  /// The header is a list separated by spaces; versions other than `v1` are skipped.
  private func signatures(in fields: HTTPFields) -> [Data] {
    (fields[.webhookSignature] ?? "").split(separator: " ").prefix(8).compactMap { entry in
      entry.hasPrefix("v1,") ? Data(base64Encoded: String(entry.dropFirst(3))) : nil
    }
  }
}

extension HTTPField.Name {
  /// The webhook's unique id; our own constants, so that they are known to be valid names.
  static let webhookID = Self("webhook-id")!
  /// When it was sent, Unix seconds.
  static let webhookTimestamp = Self("webhook-timestamp")!
  /// Its signatures.
  static let webhookSignature = Self("webhook-signature")!
  /// What the caller would like (RFC 7240).
  static let prefer = Self("prefer")!
  /// Which of its wishes were met (RFC 7240).
  static let preferenceApplied = Self("preference-applied")!
}
