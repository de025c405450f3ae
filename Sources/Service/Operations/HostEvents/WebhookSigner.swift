internal import Cryptography
internal import FoundationEssentials
package import HTTPTypes

/// Signs webhooks that the service sends, as Standard Webhooks asks and ``WebhookAuthentication`` verifies.
package struct WebhookSigner: Sendable {
  private let keys: [HMACSHA256]

  /// - Parameter keys: each makes a signature, so that the receiver may know either while one replaces another.
  package init(keys: [[UInt8]]) {
    self.keys = keys.map { HMACSHA256(key: $0) }
  }

  /// `webhook-id`, `webhook-timestamp` and `webhook-signature` for a content.
  /// - Parameters:
  ///   - id: the webhook's, which has no full stop.
  ///   - timestamp: when this attempt is made, Unix seconds.
  package func fields(id: String, timestamp: Int64, body: [UInt8]) -> HTTPFields {
    let signed = Array("\(id).\(timestamp).".utf8) + body
    let signatures = keys.map { "v1," + Data($0.code(for: signed).bytes).base64EncodedString() }
    return [
      .webhookID: id, .webhookTimestamp: String(timestamp), .webhookSignature: signatures.joined(separator: " "),
    ]
  }
}

extension HTTPField.Name {
  // Our own constants, so making them cannot fail.

  package static let webhookID = Self("webhook-id")!
  /// When it was sent, Unix seconds.
  package static let webhookTimestamp = Self("webhook-timestamp")!
  package static let webhookSignature = Self("webhook-signature")!
}
