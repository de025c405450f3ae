package import Cryptography
internal import FoundationEssentials
internal import Synchronization

/// Identifies this application server to push services (RFC 8292): signs a token for each origin, and keeps it.
///
/// Shared by all reactors. Reading a token takes a lock that is hardly ever contended; a signature under it takes some 40 µs,
/// four times a day for an origin.
package final class VAPIDSigner: Sendable {
  /// How long a token is valid. Services accept 24 hours at most (RFC 8292 section 2), by their own clock.
  package static let lifetime: Int64 = 12 * 3600

  /// The age at which a token is replaced. Half of its life is left for pushes under way and for a wrong clock.
  static let renewalAge: Int64 = lifetime / 2

  /// Apple asks to renew a token at most once an hour, so a younger one is not replaced when a service refuses it.
  static let replacementAge: Int64 = 3600

  /// A token of the future shows that the clock was set back; less is ordinary correction.
  private static let clockStepMax: Int64 = 300

  /// The most origins with a token. The standard list has a few dozen real ones. Users choose names below its patterns, so
  /// there must be a bound: beyond it the least recently used token goes.
  private static let originsMax = 256

  /// The public key as browsers take it for `applicationServerKey`: base64url of 65 bytes, without padding.
  package let publicKeyText: String

  private let key: P256PrivateKey
  private let subject: VAPIDSubject
  private let clock: @Sendable () -> Int64
  private let state = Mutex(State())

  private struct State {
    var tokens: [String: VAPIDToken] = [:]
    /// When each token was last used, in calls.
    var uses: [String: UInt64] = [:]
    var calls: UInt64 = 0
  }

  /// A signer without tokens.
  /// - Parameters:
  ///   - key: a key for VAPID alone, not for encryption (RFC 8292 section 3.2).
  ///   - clock: Unix seconds; nil for the machine's wall clock.
  package init(key: P256PrivateKey, subject: VAPIDSubject, clock: (@Sendable () -> Int64)? = nil) {
    self.key = key
    self.subject = subject
    self.clock = clock ?? { Int64(Date().timeIntervalSince1970) }
    publicKeyText = Base64URL.encode(key.publicKey.x963)
  }

  var originCount: Int { state.withLock { $0.tokens.count } }

  /// The token for an origin: the kept one, or a new one when that is due.
  func token(for origin: String) throws(CryptographyError) -> VAPIDToken {
    let now = clock()
    return try state.withLock { state throws(CryptographyError) in
      state.calls += 1
      state.uses[origin] = state.calls
      if let kept = state.tokens[origin], !Self.isDue(kept, now) { return kept }
      return try sign(for: origin, now, &state)
    }
  }

  /// Makes a new token after a service refused this one, unless a newer one exists. A young one is kept: another signature by
  /// the same clock and key would get the same answer.
  /// - Returns: whether a newer token than `refused` exists now.
  func replace(_ refused: VAPIDToken, for origin: String) throws(CryptographyError) -> Bool {
    let now = clock()
    return try state.withLock { state throws(CryptographyError) in
      if let kept = state.tokens[origin], kept != refused { return true }
      guard now - refused.issuedAt >= Self.replacementAge else { return false }
      _ = try sign(for: origin, now, &state)
      return true
    }
  }

  private static func isDue(_ token: VAPIDToken, _ now: Int64) -> Bool {
    !(-clockStepMax..<renewalAge).contains(now - token.issuedAt)
  }

  private func sign(for origin: String, _ now: Int64, _ state: inout State) throws(CryptographyError) -> VAPIDToken {
    let token = VAPIDToken(authorization: try authorization(for: origin, now), issuedAt: now)
    if state.tokens[origin] == nil, state.tokens.count == Self.originsMax,
      let oldest = state.uses.min(by: { $0.value < $1.value })?.key
    {
      state.tokens[oldest] = nil
      state.uses[oldest] = nil
    }
    state.tokens[origin] = token
    state.uses[origin] = state.calls
    return token
  }

  /// Neither an origin nor a subject holds anything that JSON escapes.
  private func authorization(for origin: String, _ now: Int64) throws(CryptographyError) -> String {
    let claims = #"{"aud":"\#(origin)","exp":\#(now + Self.lifetime),"sub":"\#(subject.text)"}"#
    let token = try SignedStatement.text(header: #"{"typ":"JWT","alg":"ES256"}"#.utf8, claims: claims.utf8) {
      (text) throws(CryptographyError) in try key.sign(text).raw
    }
    return "vapid t=\(token), k=\(publicKeyText)"
  }
}

/// A signed statement of the sender's identity for one origin.
struct VAPIDToken: Equatable, Sendable {
  /// The value of the Authorization field. A secret while it is valid.
  let authorization: String
  /// Unix seconds by this machine's clock.
  let issuedAt: Int64
}

/// Whom a push service may ask about the sender: the `sub` of VAPID tokens (RFC 8292 section 2.1).
package struct VAPIDSubject: Equatable, Sendable {
  /// Longer than any address (RFC 5321 section 4.5.3.1).
  private static let bytesMax = 320

  /// Domains that never name a contact. Apple answers tokens with them, and with a blank or angle brackets, with 403
  /// `BadJwtToken`. Other services accept them, so the mistake would show on Apple's browsers alone.
  private static let refusedDomains: Set<Substring> = ["localhost", "local", "invalid"]

  /// The address. Holds nothing that JSON escapes.
  package let text: String

  /// Reads the setting `VAPID_SUBJECT`: `mailto:ops@example.com`, or an `https:` URL with a named host.
  /// - Throws: `subjectMalformed`.
  package init(_ text: String) throws(WebPushError) {
    guard text.utf8.count <= Self.bytesMax, text.utf8.allSatisfy(Self.isAllowed), let host = Self.host(of: text),
      Self.isPublic(host)
    else {
      throw WebPushError(
        .subjectMalformed, "not mailto: or https: with a public domain, without blanks and angle brackets")
    }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && !#""<>\^`{|},"#.utf8.contains(byte)
  }

  private static func host(of text: String) -> HostName? {
    if text.hasPrefix("mailto:") {
      let parts = text.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(isOfLocalPart) else { return nil }
      return HostName(parts[1])
    }
    guard text.hasPrefix("https://") else { return nil }
    return HostAndPort(text.dropFirst("https://".count).prefix { $0 != "/" && $0 != "?" && $0 != "#" })?.host
  }

  /// What the part before the `@` has without quotes: letters, digits, and these (RFC 5322 section 3.2.3). So a scheme is none.
  private static func isOfLocalPart(_ byte: UInt8) -> Bool {
    let isAlphanumeric = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
    return isAlphanumeric || "!#$%&'*+-/=?^_`{|}~.".utf8.contains(byte)
  }

  private static func isPublic(_ host: HostName) -> Bool {
    guard !host.isNumeric, let last = host.text.split(separator: ".").last, last.utf8.count < host.text.utf8.count
    else { return false }
    return !refusedDomains.contains(last)
  }
}
