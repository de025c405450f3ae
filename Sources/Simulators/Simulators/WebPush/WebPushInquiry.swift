internal import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes

/// The parts of a request that a push service judges, as they came.
struct WebPushInquiry: Sendable {
  let timeToLive: String?
  let urgency: String?
  let topic: String?
  let contentEncoding: String?
  let authorization: String?
  /// Whether a field of an older encoding is there: `Crypto-Key` or `Encryption`.
  let hasOlderFields: Bool
  let body: [UInt8]

  init(_ head: RequestHead, body: [UInt8]) {
    timeToLive = head[.timeToLive]
    urgency = head[.urgency]
    topic = head[.topic]
    contentEncoding = head[.contentEncoding]
    authorization = head[.authorization]
    hasOlderFields = head[.cryptoKey] != nil || head[.encryption] != nil
    self.body = body
  }
}

/// What a request asks for, once it is judged.
struct JudgedWebPush: Sendable {
  var timeToLive: Int64 = 0
  var urgency = "normal"
  var topic: String?
  var statement: VAPIDStatement?
}

extension WebPushInquiry {
  private static let urgencies: Set<String> = ["very-low", "low", "normal", "high"]

  /// Judges the request in the order of cost: the subscription, the size, the sender, the fields.
  /// - Parameters:
  ///   - origin: of the endpoint.
  ///   - now: Unix seconds.
  func judge(for subscription: SimulatedSubscription, origin: String, now: Double) throws(PushRefusal) -> JudgedWebPush
  {
    switch subscription.state {
    case .active: break
    case .expired: throw .expired
    case .gone: throw .gone
    }
    guard body.count <= subscription.face.bodyBytesMax else { throw .bodyTooLarge }
    var push = JudgedWebPush()
    push.statement = try statement(for: subscription, origin: origin, now: now)
    push.timeToLive = try judgedTimeToLive(subscription.face)
    push.urgency = try judgedUrgency()
    push.topic = try judgedTopic(subscription.face)
    try judgeEncoding()
    return push
  }

  private func statement(
    for subscription: SimulatedSubscription, origin: String, now: Double
  ) throws(PushRefusal) -> VAPIDStatement? {
    guard let authorization else {
      guard subscription.serverKey == nil else { throw .authorizationMissing }
      return nil
    }
    let statement = try VAPIDStatement(authorization)
    try statement.check(subscription.face, origin: origin, now: now)
    if let key = subscription.serverKey, key != statement.keyText { throw .keyMismatch }
    return statement
  }

  private func judgedTimeToLive(_ face: PushServiceFace) throws(PushRefusal) -> Int64 {
    guard let timeToLive else { throw .timeToLiveMissing }
    guard !timeToLive.isEmpty, timeToLive.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw .timeToLiveMalformed
    }
    let seconds = Int64(timeToLive) ?? .max
    guard seconds > 0 || face.acceptsTimeToLiveZero else { throw .timeToLiveMalformed }
    return min(seconds, face.timeToLiveMax)
  }

  private func judgedUrgency() throws(PushRefusal) -> String {
    guard let urgency else { return "normal" }
    guard Self.urgencies.contains(urgency) else { throw .urgencyUnknown }
    return urgency
  }

  private func judgedTopic(_ face: PushServiceFace) throws(PushRefusal) -> String? {
    guard let topic else { return nil }
    guard (1...32).contains(topic.utf8.count), topic.utf8.allSatisfy(Base64URL.isDigit),
      face.acceptsTopic(ofLength: topic.utf8.count)
    else {
      throw .topicMalformed
    }
    return topic
  }

  /// An empty push has no encoding.
  private func judgeEncoding() throws(PushRefusal) {
    guard !body.isEmpty else { return }
    guard contentEncoding == "aes128gcm", !hasOlderFields else { throw .encodingNotSupported }
  }
}

extension Base64URL {
  static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }
}

extension HTTPField.Name {
  static let timeToLive = Self("TTL")!
  static let urgency = Self("Urgency")!
  static let topic = Self("Topic")!
  static let cryptoKey = Self("Crypto-Key")!
  static let encryption = Self("Encryption")!
}

/// What is wrong with a request, before a service gives it a form.
package enum PushRefusal: Error, Equatable, Sendable, CaseIterable {
  /// No such subscription, or an expired one.
  case expired
  /// The user unsubscribed.
  case gone
  case bodyTooLarge
  case timeToLiveMissing
  /// `TTL` is not a number that the service accepts.
  case timeToLiveMalformed
  case urgencyUnknown
  /// `Topic` has other characters than base64url, or too many.
  case topicMalformed
  /// The body is not `aes128gcm`, or the fields of an older encoding are there.
  case encodingNotSupported
  /// A restricted subscription, and no VAPID.
  case authorizationMissing
  /// Authorization is not VAPID with `t` and `k`.
  case authorizationMalformed
  /// `k` is not a point on P-256.
  case keyMalformed
  /// The token's form, signature or claims.
  case tokenInvalid
  /// `k` is not the key of the subscription.
  case keyMismatch
}

/// A response of the stand-in, before it becomes HTTP.
struct PushResponse: Equatable, Sendable {
  var status: Int
  /// The service's word, for the log.
  var reason: String?
  var fields: [String: String] = [:]
  var body: String = ""
}

/// The sender's identity in an Authorization field (RFC 8292 section 3), in parts.
struct VAPIDStatement: Sendable {
  /// The longest lifetime, in seconds (section 2).
  private static let lifetimeMax: Double = 24 * 3600

  /// `k`, without padding.
  let keyText: String
  let claims: Claims
  private let key: P256PublicKey
  private let signature: ES256Signature
  private let signed: [UInt8]

  struct Claims: Decodable, Sendable {
    let aud: String?
    let exp: Double?
    let sub: String?
  }

  private struct Header: Decodable {
    let alg: String?
    let typ: String?
  }

  /// Reads `vapid t=…, k=…`. Judges nothing but the form.
  init(_ field: String) throws(PushRefusal) {
    let parts = field.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "vapid" else { throw .authorizationMalformed }
    let parameters = Self.parameters(parts[1])
    guard parameters.count == 2, let token = parameters["t"], let key = parameters["k"] else {
      throw .authorizationMalformed
    }
    guard let point = Base64URL.decode(key.utf8), let publicKey = try? P256PublicKey(x963: point) else {
      throw .keyMalformed
    }
    keyText = key
    self.key = publicKey
    let segments = token.split(separator: ".", omittingEmptySubsequences: false)
    guard segments.count == 3, let header: Header = Self.read(segments[0]), header.alg == "ES256",
      header.typ.map({ $0.uppercased() == "JWT" }) ?? true, let claims: Claims = Self.read(segments[1]),
      let signature = Base64URL.decode(segments[2].utf8).flatMap({ ES256Signature(raw: $0) })
    else { throw .tokenInvalid }
    self.claims = claims
    self.signature = signature
    signed = Array("\(segments[0]).\(segments[1])".utf8)
  }

  /// Judges signature and claims.
  /// - Parameters:
  ///   - origin: of the endpoint.
  ///   - now: Unix seconds.
  func check(_ face: PushServiceFace, origin: String, now: Double) throws(PushRefusal) {
    guard key.verifies(signature, of: signed), claims.aud == origin, let expiration = claims.exp,
      expiration > now, expiration <= now + Self.lifetimeMax, Self.accepts(claims.sub, face)
    else { throw .tokenInvalid }
  }

  private static func parameters(_ text: Substring) -> [String: String] {
    var parameters: [String: String] = [:]
    for part in text.split(separator: ",") {
      let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2, parameters[String(pair[0])] == nil else { return [:] }
      parameters[String(pair[0])] = String(pair[1].prefix { $0 != " " })
    }
    return parameters
  }

  private static func read<Value: Decodable>(_ segment: Substring) -> Value? {
    Base64URL.decode(segment.utf8).flatMap { try? JSONDecoder().decode(Value.self, from: Data($0)) }
  }

  /// Apple refuses contacts that cannot be real.
  private static func accepts(_ subject: String?, _ face: PushServiceFace) -> Bool {
    guard face.judgesSubject else { return subject.map { $0.hasPrefix("mailto:") || $0.hasPrefix("https:") } ?? true }
    guard let subject, !subject.contains(where: { "<> ".contains($0) }) else { return false }
    guard subject.hasPrefix("mailto:") ? subject.contains("@") : subject.hasPrefix("https://") else { return false }
    let domain = subject.drop { $0 != "@" && $0 != "/" }.drop { "@/".contains($0) }.prefix { $0 != "/" && $0 != ":" }
    return domain.contains(".") && !domain.hasSuffix(".local") && !domain.hasSuffix(".invalid")
      && !domain.hasSuffix(".localhost")
  }
}

/// Content in the coding `aes128gcm` (RFC 8188), of any number of records.
package struct EncryptedContent: Equatable, Sendable {
  /// 16 bytes.
  package let salt: [UInt8]
  /// The size of every record except the last, in bytes; at least 18.
  package let recordBytes: Int
  /// Names the key; up to 255 bytes.
  package let keyIdentifier: [UInt8]
  /// The records, in order, at least one.
  let records: [[UInt8]]

  private static let tagBytes = 16
  /// A record holds at least its delimiter and its tag.
  private static let recordBytesMin = 18

  /// Reads the header (section 2.1) and divides the rest into records.
  /// - Throws: ``ContentFault`` for a header that is cut off, a record size below 18, and content without a record.
  package init(_ bytes: [UInt8]) throws(ContentFault) {
    guard bytes.count >= 21 else { throw .headerCutOff }
    salt = Array(bytes[..<16])
    let size = bytes[16..<20].reduce(0) { $0 << 8 | Int($1) }
    let start = 21 + Int(bytes[20])
    guard bytes.count >= start else { throw .headerCutOff }
    keyIdentifier = Array(bytes[21..<start])
    guard size >= Self.recordBytesMin else { throw .recordSizeTooSmall }
    guard bytes.count > start else { throw .noRecord }
    recordBytes = size
    records = stride(from: start, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
  }

  /// Decrypts all records.
  /// - Parameter key: the input keying material.
  /// - Returns: the content without padding, and how many bytes of padding it had.
  /// - Throws: ``ContentFault`` for a record that is too short or not authentic, or has the wrong delimiter.
  package func open(with key: [UInt8]) throws(ContentFault) -> (content: [UInt8], paddingBytes: Int) {
    let contentKey = AESGCM(
      key: HKDFSHA256.derive(
        from: key, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8), byteCount: 16))
    let nonce = HKDFSHA256.derive(
      from: key, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), byteCount: 12)
    var content: [UInt8] = []
    var paddingBytes = 0
    for (number, record) in records.enumerated() {
      let plain = contentKey.open(record, nonce: Self.nonce(nonce, number))
      guard record.count > Self.tagBytes, let plain else { throw .notAuthentic }
      let delimiter: UInt8 = number == records.count - 1 ? 2 : 1
      guard let end = plain.lastIndex(where: { $0 != 0 }), plain[end] == delimiter else { throw .wrongDelimiter }
      content += plain[..<end]
      paddingBytes += plain.count - end - 1
    }
    return (content, paddingBytes)
  }

  /// The nonce of a record: the last bytes combined with its number (section 2.3).
  private static func nonce(_ base: [UInt8], _ number: Int) -> [UInt8] {
    var nonce = base
    for place in 0..<8 { nonce[11 - place] ^= UInt8(truncatingIfNeeded: number >> (8 * place)) }
    return nonce
  }
}

/// Why content cannot be decrypted. A browser drops such a push silently; the text is for the sender's developer.
package enum ContentFault: String, Error, Sendable {
  case headerCutOff = "the header is cut off"
  case recordSizeTooSmall = "the record size is less than 18"
  case noRecord = "no record follows the header"
  /// More than one record (RFC 8291 section 4).
  case tooManyRecords = "more than one record"
  /// The key identifier is not an uncompressed point on P-256.
  case keyMalformed = "the key identifier is not a point on P-256"
  /// A record is too short, or was encrypted otherwise: with another key, salt or secret.
  case notAuthentic = "a record is not authentic"
  case wrongDelimiter = "the delimiter of the padding is wrong"
}
