extension PushInquiry {
  /// The most that `iat` may lie behind or ahead, in seconds.
  private static let issuedAtTolerance = 3600.0

  /// Who asks, and may this connection ask for them?
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
