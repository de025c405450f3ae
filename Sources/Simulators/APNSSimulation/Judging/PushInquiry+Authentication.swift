extension PushInquiry {
  /// The greatest distance of `iat` from now, in seconds.
  private static let issuedAtTolerance = 3600.0

  /// Checks the provider token, and whether the connection may carry it.
  mutating func authenticate(
    _ cache: inout ProviderTokenCache, _ binding: inout ProviderBinding, registry: SimulationRegistry
  ) throws(Refusal) {
    switch request.certificate {
    case .topics: return
    case .unknown: throw .forbidden("BadCertificate")
    case .none: break
    }
    let text = try bearerToken()
    push.providerTokenHash = ProviderToken.hash(of: text)
    let token = try cache.token(text, registry: registry)
    guard token.key.environments.contains(environment) else { throw .forbidden("BadEnvironmentKeyInToken") }
    try checkAge(of: token)
    try binding.admit(token, now: now)
    key = token.key
    findings += token.findings
  }

  /// The scheme's name is case-insensitive (RFC 9110 §11.1).
  private func bearerToken() throws(Refusal) -> String {
    guard let credentials = request.value(of: "authorization") else { throw .missingProviderToken }
    let parts = credentials.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .missingProviderToken }
    let token = parts[1].drop { $0 == " " }
    guard !token.isEmpty else { throw .missingProviderToken }
    return String(token)
  }

  private func checkAge(of token: ProviderToken) throws(Refusal) {
    let age = Double(now.microseconds) / 1e6 - token.issuedAtSeconds
    if age < -Self.issuedAtTolerance { throw .invalidProviderToken }
    if age > Self.issuedAtTolerance { throw .forbidden("ExpiredProviderToken") }
  }
}

/// The binding of a connection to its provider tokens.
///
/// The first good token binds the connection to a team and a kind of key. Later the token may change once in 20
/// minutes. Source: "Establishing a token-based connection to APNs" (Apple).
package struct ProviderBinding: Sendable {
  /// The least time between two provider tokens of a connection, in seconds.
  package static let updateIntervalSeconds: Int64 = 20 * 60

  private var firstKey: ProviderKey?
  private var tokenText: String?
  private var tokenSince = WallInstant(microseconds: 0)

  package init() {}

  /// Admits a valid token.
  ///
  /// A refused replacement changes nothing. The current token stays valid.
  mutating func admit(_ token: ProviderToken, now: WallInstant) throws(Refusal) {
    if let firstKey {
      guard firstKey.team == token.key.team else { throw .invalidProviderToken }
      guard firstKey.mayShareConnection(with: token.key) else { throw .forbidden("UnrelatedKeyIdInToken") }
    }
    if let tokenText, tokenText != token.text {
      guard now.microseconds - tokenSince.microseconds >= Self.updateIntervalSeconds * 1_000_000 else {
        throw .tooManyProviderTokenUpdates
      }
    }
    if tokenText != token.text { (tokenText, tokenSince) = (token.text, now) }
    if firstKey == nil { firstKey = token.key }
  }
}

/// Verified provider tokens by their text. A client sends one token with thousands of pushes, and the signature is the
/// most expensive check.
struct ProviderTokenCache {
  /// Far more tokens than a well-behaved client uses in an hour.
  private static let entriesMax = 256

  private var entries: [String: Result<ProviderToken, Refusal>] = [:]
  private var keysRevision = 0

  init() {}

  mutating func token(_ text: String, registry: SimulationRegistry) throws(Refusal) -> ProviderToken {
    if registry.keysRevision != keysRevision || entries.count > Self.entriesMax {
      entries.removeAll()
      keysRevision = registry.keysRevision
    }
    if let known = entries[text] { return try known.get() }
    let read: Result<ProviderToken, Refusal>
    do throws(Refusal) {
      read = .success(try ProviderToken(verifying: text, keys: registry.keys))
    } catch {
      read = .failure(error)
    }
    entries[text] = read
    return try read.get()
  }
}
