internal import Cryptography
internal import FoundationEssentials
package import HTTPTypes
internal import Operations

/// Checks in constant time that the sender of a webhook knows a secret.
///
/// Two ways, either is enough: `Authorization: Bearer <secret>`, or a signature as Standard Webhooks asks
/// (`webhook-id`, `webhook-timestamp`, `webhook-signature: v1,<base64 HMAC-SHA-256>` over `id.timestamp.body`). Several
/// secrets may be valid at once, so that they can be rotated.
package struct WebhookAuthentication: Sendable {
  /// One secret in its two uses.
  package struct Key: Sendable {
    let bearer: String
    let signingKey: [UInt8]

    package init(bearer: String, signingKey: [UInt8]) {
      self.bearer = bearer
      self.signingKey = signingKey
    }
  }

  /// How far the signature's time may be from ours, in seconds: a captured webhook is worthless afterwards. Source:
  /// Standard Webhooks, "Verifying webhooks with timestamp".
  static let toleranceSeconds: Int64 = 300

  private let bearers: BearerKeys
  private let signingKeys: [HMACSHA256]

  package init(_ keys: [Key]) {
    bearers = BearerKeys(keys.map(\.bearer))
    signingKeys = keys.map { HMACSHA256(key: $0.signingKey) }
  }

  /// The tokens of service workers, by the same secrets.
  package var workerTokens: WorkerTokens { WorkerTokens(signingKeys) }

  /// Whether the head alone proves the request.
  package func acceptsBearer(_ fields: HTTPFields) -> Bool { fields.bearerToken.map(bearers.accepts) ?? false }

  /// Whether a signature is that of this content.
  /// - Parameter body: as it came.
  package func accepts(_ signature: WebhookSignature, of body: [UInt8]) -> Bool {
    let signed = signature.prefix + body
    // One code for each key, however many signatures there are to compare with it in constant time.
    return signingKeys.contains { key in
      let code = key.code(for: signed)
      return signature.codes.contains { code == $0 }
    }
  }
}

/// What the head of a signed webhook says, which its content must prove.
package struct WebhookSignature {
  /// What is signed before the content.
  fileprivate let prefix: [UInt8]
  /// At least one.
  fileprivate let codes: [SHA256Digest]

  /// Nil unless all three fields are there, the time is near enough and a signature may be one.
  /// - Parameter now: Unix seconds.
  package init?(_ fields: HTTPFields, now: Int64) {
    let tolerance = WebhookAuthentication.toleranceSeconds
    guard let id = fields[.webhookID], let timestamp = fields[.webhookTimestamp],
      timestamp.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(timestamp),
      (now - tolerance...now + tolerance).contains(seconds)
    else { return nil }
    prefix = Array("\(id).\(timestamp).".utf8)
    codes = Self.codes(in: fields)
    if codes.isEmpty { return nil }
  }

  /// The header is a list separated by spaces; versions other than `v1` are skipped, and what has another length.
  private static func codes(in fields: HTTPFields) -> [SHA256Digest] {
    (fields[.webhookSignature] ?? "").split(separator: " ").prefix(8).compactMap { entry in
      guard entry.hasPrefix("v1,"), let code = Data(base64Encoded: String(entry.dropFirst(3))) else { return nil }
      return SHA256Digest(Array(code))
    }
  }
}
