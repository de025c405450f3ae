internal import Channels
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import PushRules
internal import PushStore

/// What a registration says of the person. A device tells its locale and its zone as its system has them. What nobody knows of that is
/// left out, and the answer says so: the registration is worth more.
struct TargetOwner: Decodable, Equatable {
  let locale: String?
  let timeZone: String?
  let content: String?
  private(set) var ignored: [String] = []

  private enum Key: String, CodingKey, CaseIterable {
    case locale, content
    case timeZone = "time_zone"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: Key.self)
    let toldLocale = try body.decodeIfPresent(String.self, forKey: .locale)
    let toldZone = try body.decodeIfPresent(String.self, forKey: .timeZone)
    locale = toldLocale.flatMap(LanguageTag.read)
    timeZone = toldZone.flatMap { TimeZoneName.isWellFormed($0) ? $0 : nil }
    content = try body.decodeContent(.content)
    if toldLocale != nil, locale == nil { ignored.append(Key.locale.rawValue) }
    if toldZone != nil, timeZone == nil { ignored.append(Key.timeZone.rawValue) }
  }

  /// The members that a registration has left out, as JSON; nil for none.
  func ignored(by outcome: RegistrationOutcome) -> PayloadValue? {
    let names = ignored + (outcome == .registeredWithoutZone ? [Key.timeZone.rawValue] : [])
    return names.isEmpty ? nil : .array(names.map { .string($0) })
  }

  /// The answer of a registration that says nothing else.
  func answer(to outcome: RegistrationOutcome) -> HTTPServerResponse {
    guard let ignored = ignored(by: outcome) else { return HTTPServerResponse(status: .noContent) }
    return HTTPServerResponse(json: (["ignored": ignored] as PayloadObject).encoded())
  }

  func fill(_ target: inout RegisteredTarget) {
    target.locale = locale
    target.timeZone = timeZone
    target.content = content
  }
}

/// What a browser's `PushSubscription.toJSON()` says, with the person's locale and zone. `expiration_time` is a text in place of its
/// number `expirationTime`.
struct SubscriptionBody: Decodable {
  private struct Keys: Codable {
    let p256dh: String
    let auth: String
    /// The application server key that the browser subscribed with.
    var key: String?
  }

  let owner: TargetOwner
  /// Microseconds since 1970; nil for never.
  let expiresAt: Int64?
  private let endpoint: String
  private let keys: Keys

  private enum Key: String, CodingKey, CaseIterable {
    case endpoint, keys, locale, content, expirationTime
    case expiresAt = "expiration_time"
    case timeZone = "time_zone"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    endpoint = try body.decode(String.self, forKey: .endpoint)
    keys = try body.decode(Keys.self, forKey: .keys)
    let milliseconds = try body.decodeIfPresent(Double.self, forKey: .expirationTime)
    try body.require(
      milliseconds.map(Self.times.contains) != false, .expirationTime, "must be milliseconds since 1970")
    expiresAt =
      try body.decodeText(.expiresAt, "must be a time as RFC 3339 writes it") {
        InstantText.microseconds(of: $0) != nil
      }.flatMap(InstantText.microseconds) ?? milliseconds.map { Int64($0) * 1000 }
    owner = try TargetOwner(from: decoder)
  }

  /// Milliseconds since 1970, up to the year 9999.
  private static let times = 0...253_402_300_799_999.0

  func target(among offer: WebPushOffer) throws(ProblemDetails) -> PushTarget {
    do throws(WebPushError) {
      let endpoint = try WebPushEndpoint(endpoint, among: offer.hosts)
      _ = try WebPushKeys(p256dh: keys.p256dh, auth: keys.auth)
      var stored = keys
      stored.key = offer.publicKey
      let document = (try? JSONEncoder().encode(stored)).map { String(decoding: $0, as: UTF8.self) }
      return PushTarget(.webPush, address: endpoint.url, keys: document)
    } catch {
      let field =
        switch error.code {
        case .publicKeyMalformed: "keys.p256dh"
        case .authenticationSecretMalformed: "keys.auth"
        default: "endpoint"
        }
      throw .content(field, "\(field) cannot be used: \(error.message).")
    }
  }
}

/// Which subscription ends.
struct EndpointBody: Decodable {
  let endpoint: String

  private enum Key: String, CodingKey, CaseIterable { case endpoint }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    endpoint =
      try body.decodeText(.endpoint, "must be an endpoint") { (1...WebPushEndpoint.bytesMax).contains($0.utf8.count) }
      ?? ""
  }
}

/// What an Android app says of itself.
struct RegistrationBody: Decodable {
  /// The registration token or Firebase Installation ID.
  let token: String
  /// The application's id.
  let app: String?
  let sealingKey: String?
  let owner: TargetOwner

  private enum Key: String, CodingKey, CaseIterable {
    case token, app, locale, content
    case timeZone = "time_zone"
    case sealingKey = "sealing_key"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    token = try body.decode(String.self, forKey: .token)
    guard (1...PushTarget.addressBytesMax).contains(token.utf8.count),
      token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw ProblemDetails.content(
        "token", "token must be 1 to \(PushTarget.addressBytesMax) visible ASCII characters.")
    }
    app = try body.decodeText(.app, "must be the id of an application") { (1...255).contains($0.utf8.count) }
    sealingKey = try body.decodeSealingKey(.sealingKey)
    owner = try TargetOwner(from: decoder)
  }
}
