package import Cryptography
internal import FoundationEssentials
package import HTTP1
package import HTTPTypes
package import Logging
internal import Operations
package import Reactors

/// Who may call the operations of apps and of other servers: the proof is a bearer token (RFC 6750).
package struct CallerAuthentication: Sendable {
  private let clients: (any ClientVerifier)?
  private let services: BearerKeys

  /// - Parameters:
  ///   - clients: verifies the tokens of apps; nil turns the operations for clients off.
  ///   - services: the keys of other servers; without one the operations for services are off.
  package init(clients: (any ClientVerifier)?, services: BearerKeys) {
    self.clients = clients
    self.services = services
  }

  /// The user who calls.
  ///
  /// An invalid token is not counted as a failure of the peer: signatures cannot be guessed, and apps show expired tokens as a
  /// matter of course, many of them from behind one address.
  package func client(
    _ request: HTTPServerRequest, _ logger: Logger, on reactor: isolated Reactor
  ) async throws(ProblemDetails) -> String {
    guard let clients else { throw .off("neither JWT_SECRET nor JWKS_URL is set") }
    guard let token = request.head.fields.bearerToken else {
      throw .unproven(challenge: "Bearer", "A client's token is required.")
    }
    do throws(ClientTokenError) {
      return try await clients.userID(of: token, on: reactor)
    } catch {
      guard error.code == .invalid else {
        throw ProblemDetails(
          .serviceUnavailable, detail: "Tokens cannot be verified at the moment.", fields: [.retryAfter: "5"])
      }
      logger.debug("a client's token is not valid", metadata: ["detail": "\(error.detail)"])
      throw .unproven(challenge: #"Bearer error="invalid_token""#, "The token is not valid: \(error.detail).")
    }
  }

  /// Lets another server in, or counts its failure.
  package func service(_ request: HTTPServerRequest, _ failures: FailureGate) throws(ProblemDetails) {
    guard !services.isEmpty else { throw .off("SERVICE_KEY is not set") }
    guard let key = request.head.fields.bearerToken else {
      throw .unproven(challenge: "Bearer", "The service key is required.")
    }
    guard services.accepts(key) else {
      throw failures.recordFailure(of: request.client)
        ?? .unproven(challenge: #"Bearer error="invalid_token""#, "This is not the service key.")
    }
  }
}

extension ProblemDetails {
  fileprivate static func unproven(challenge: String, _ detail: String) -> ProblemDetails {
    ProblemDetails(.unauthorized, detail: detail, fields: [.wwwAuthenticate: challenge])
  }

  fileprivate static func off(_ reason: String) -> ProblemDetails {
    ProblemDetails(.notFound, detail: "This operation is off: \(reason).")
  }
}

package protocol ClientVerifier: Sendable {
  /// The user a token was issued to: its `sub`.
  /// - Parameter token: the text behind `Bearer`.
  func userID(of token: String, on reactor: isolated Reactor) async throws(ClientTokenError) -> String
}

package struct ClientTokenError: Error, Sendable, Equatable {
  package enum Code: Sendable, Equatable {
    /// The token is forged, not valid now, or for another audience.
    case invalid
    /// The keys to verify it with are not available at the moment.
    case unavailable
  }

  package let code: Code

  /// What exactly, for an engineer; nothing of the token.
  package let detail: String

  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }
}

/// Secrets that a caller may send as a bearer token, compared in constant time. Several may be valid at once, so that they can
/// be rotated.
package struct BearerKeys: Sendable {
  private let digests: [SHA256Digest]

  package init(_ keys: [String]) {
    digests = keys.map { SHA256.hash(Array($0.utf8)) }
  }

  var isEmpty: Bool { digests.isEmpty }

  /// Whether this is one of them. Digests also hide the length, and all are compared, so that the time does not show
  /// which one matched.
  package func accepts(_ key: String) -> Bool {
    let shown = SHA256.hash(Array(key.utf8))
    return digests.reduce(false) { $1 == shown || $0 }
  }
}

extension HTTPFields {
  /// The text behind `Bearer` in Authorization; nil when it is empty.
  package var bearerToken: String? {
    guard let parts = self[.authorization]?.split(separator: " ", maxSplits: 1), parts.count == 2,
      parts[0].lowercased() == "bearer"
    else { return nil }
    return String(parts[1])
  }
}

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

/// Makes the tokens of browsers' service workers, and knows its own without the database: 16 random bytes and the first 16 of
/// their code under a webhook secret, in base64url. So a stranger's token costs one digest, and not a session of the database.
///
/// Which subscription a token belongs to is in the database. After the secret that made it is gone, the page registers anew.
package struct WorkerTokens: Sendable {
  private static let halfBytes = 16

  private let keys: [HMACSHA256]

  /// - Parameter keys: the first makes tokens, all of them accept some.
  package init(_ keys: [HMACSHA256]) {
    self.keys = keys.isEmpty ? [HMACSHA256(key: Self.random(32))] : keys
  }

  package func make() -> String {
    let nonce = Self.random(Self.halfBytes)
    return Base64URL.encode(nonce + code(of: nonce, keys[0]).prefix(Self.halfBytes))
  }

  package func accepts(_ token: String) -> Bool {
    // 32 bytes, without padding.
    guard token.utf8.count == 43, let bytes = Base64URL.decode(token.utf8), bytes.count == 2 * Self.halfBytes else {
      return false
    }
    let nonce = Array(bytes.prefix(Self.halfBytes))
    return keys.contains { key in
      // In constant time, so that answers do not tell how much of a guess was right.
      zip(code(of: nonce, key), bytes.dropFirst(Self.halfBytes)).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
  }

  private func code(of nonce: [UInt8], _ key: HMACSHA256) -> ArraySlice<UInt8> {
    // No webhook begins with this: its id has no space.
    key.code(for: Array("worker token ".utf8) + nonce).bytes.prefix(Self.halfBytes)
  }

  private static func random(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
