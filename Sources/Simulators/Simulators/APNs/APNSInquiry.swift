internal import FoundationEssentials

/// The state of one request during the checks. Attributes that were read stay when a check refuses.
struct APNSInquiry {
  let request: InspectedRequest
  let environment: SimulatedEnvironment
  let now: WallInstant
  var push = APNSJudgedPush()
  var findings: [LintFinding] = []
  /// The key of the provider token; nil with a client certificate.
  var key: ProviderKey?
  /// The topic without its suffix.
  var bundle = ""

  init(_ request: InspectedRequest, environment: SimulatedEnvironment, now: WallInstant) {
    self.request = request
    self.environment = environment
    self.now = now
  }

  /// Only POST to `/3/device/<token>`. A missing token is reported after authentication.
  mutating func checkRequestLine() throws(Refusal) {
    guard request.method == "POST" else { throw .methodNotAllowed }
    if request.path == "/3/device" { return }
    let prefix = "/3/device/"
    guard request.path.hasPrefix(prefix) else { throw .badPath }
    let token = request.path.dropFirst(prefix.count)
    guard !token.contains("/") else { throw .badPath }
    push.token = String(token)
  }

  func checkRepeatedFields() throws(Refusal) {
    var seen = Set<String>()
    for field in request.fields where !seen.insert(field.name).inserted {
      throw .badRequest("DuplicateHeaders")
    }
  }

  func checkTokenPresence() throws(Refusal) {
    guard !push.token.isEmpty else { throw .badRequest("MissingDeviceToken") }
  }

  mutating func report(_ code: LintFinding.Code, _ detail: String = "") {
    findings.append(LintFinding(code, detail))
  }
}

extension APNSInquiry {
  /// Apple's limit for `apns-collapse-id`, in bytes.
  private static let collapseIDBytesMax = 64

  /// Checks the fields in the order in which mistakes are reported.
  mutating func checkFields() throws(Refusal) {
    if let identifier = request.value(of: "apns-id") {
      guard Self.isCanonicalIdentifier(identifier) else { throw .badRequest("BadMessageId") }
    }
    try checkPushType()
    try checkPriority()
    try checkExpiration()
    if let collapseID = request.value(of: "apns-collapse-id") {
      guard collapseID.utf8.count <= Self.collapseIDBytesMax else { throw .badRequest("BadCollapseId") }
      push.collapseID = collapseID
    }
  }

  /// A UUID in Apple's form: 8-4-4-4-12 digits, in lower case.
  static func isCanonicalIdentifier(_ text: String) -> Bool {
    let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.allSatisfy(isLowerCaseHexadecimal) }
  }

  private static func isLowerCaseHexadecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }

  private mutating func checkPushType() throws(Refusal) {
    guard let text = request.value(of: "apns-push-type") else { return report(.missingPushType) }
    guard let type = SimulatedPushType(rawValue: text) else { throw .badRequest("InvalidPushType") }
    push.pushType = type
  }

  mutating func checkPriority() throws(Refusal) {
    switch request.value(of: "apns-priority") {
    case nil, "10": push.priority = 10
    case "5": push.priority = 5
    case "1": push.priority = 1
    default: throw .badRequest("BadPriority")
    }
    if let type = push.pushType, type.refuses(priority: push.priority) { throw .badRequest("BadPriority") }
  }

  mutating func checkExpiration() throws(Refusal) {
    guard let text = request.value(of: "apns-expiration") else { return }
    let isNumber = !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isNumber, let seconds = Int64(text) else { throw .badRequest("BadExpirationDate") }
    push.expirationSeconds = seconds
  }
}

extension APNSInquiry {
  /// The longest topic, in bytes: 255 for a bundle identifier, and room for the longest suffix.
  private static let topicBytesMax = 255 + 32

  /// Present, well-formed, right for the push type, allowed for the credential.
  mutating func checkTopic(registry: SimulationRegistry) throws(Refusal) {
    push.topic = try topic()
    guard Self.isWellFormed(push.topic) else { throw .badRequest("BadTopic") }
    guard let bundle = bundle(registry: registry) else { throw .badRequest("TopicDisallowed") }
    self.bundle = bundle
    guard isAllowed(registry: registry) else { throw .badRequest("TopicDisallowed") }
  }

  /// A client certificate for a single topic implies it.
  private func topic() throws(Refusal) -> String {
    if let topic = request.value(of: "apns-topic"), !topic.isEmpty { return topic }
    if case .topics(let topics) = request.certificate, topics.count == 1 { return topics[0] }
    throw .badRequest("MissingTopic")
  }

  private static func isWellFormed(_ topic: String) -> Bool {
    topic.utf8.count <= topicBytesMax
      && topic.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// Without a push type the suffix decides. An app's own identifier comes first, because it may end in `.voip`.
  private func bundle(registry: SimulationRegistry) -> String? {
    if let type = push.pushType { return type.bundle(inTopic: push.topic) }
    let candidates = SimulatedPushType.allCases.compactMap { $0.bundle(inTopic: push.topic) }
    return candidates.first { registry.bundles[$0] != nil } ?? push.topic
  }

  private func isAllowed(registry: SimulationRegistry) -> Bool {
    if case .topics(let topics) = request.certificate { return topics.contains(push.topic) }
    guard let key else { return false }
    return registry.owns(key.team, bundle: bundle) && key.covers(topic: push.topic, bundle: bundle)
  }
}

extension APNSInquiry {
  /// Hexadecimal, known, of this service, of this app, still registered, in this order.
  mutating func checkDevice(registry: SimulationRegistry) throws(Refusal) {
    guard Self.isDeviceToken(push.token) else { throw .badRequest("BadDeviceToken") }
    if push.token.utf8.contains(where: (UInt8(ascii: "A")...UInt8(ascii: "F")).contains) { report(.upperCaseToken) }
    guard let device = registry.devices[push.token.lowercased()] else {
      guard registry.acceptsAnyToken else { throw .badRequest("BadDeviceToken") }
      return
    }
    guard device.environment == environment else { throw .badRequest("BadDeviceToken") }
    guard device.bundle == bundle else { throw .badRequest("DeviceTokenNotForTopic") }
    if let end = device.end { throw .gone(end) }
  }

  /// Whole bytes in hexadecimal; Apple promises no length.
  static func isDeviceToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count.isMultiple(of: 2) && text.utf8.allSatisfy(isHexadecimal)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}

/// Why a push is refused: a status and its reason in Apple's table.
struct Refusal: Error, Equatable {
  let status: Int
  let reason: String
  /// Milliseconds since 1970; only 410 has it.
  var timestampMilliseconds: Int64?

  static func badRequest(_ reason: String) -> Refusal { Refusal(status: 400, reason: reason) }
  static func forbidden(_ reason: String) -> Refusal { Refusal(status: 403, reason: reason) }

  static let badPath = Refusal(status: 404, reason: "BadPath")
  static let methodNotAllowed = Refusal(status: 405, reason: "MethodNotAllowed")
  static let payloadTooLarge = Refusal(status: 413, reason: "PayloadTooLarge")
  static let tooManyProviderTokenUpdates = Refusal(status: 429, reason: "TooManyProviderTokenUpdates")
  static let tooManyRequests = Refusal(status: 429, reason: "TooManyRequests")
  static let missingProviderToken = Refusal.forbidden("MissingProviderToken")
  static let invalidProviderToken = Refusal.forbidden("InvalidProviderToken")

  static func gone(_ end: RegisteredDevice.End) -> Refusal {
    switch end {
    case .unregistered(let moment): Refusal(status: 410, reason: "Unregistered", timestampMilliseconds: moment)
    case .expired(let moment): Refusal(status: 410, reason: "ExpiredToken", timestampMilliseconds: moment)
    }
  }
}

/// The JSON bodies of refusals.
enum AnswerBody {
  /// `{"reason":"...","timestamp":...}`, with the optional timestamp in milliseconds since 1970.
  static func json(reason: String, timestamp: Int64?) -> [UInt8] {
    var text = #"{"reason":""#
    for scalar in reason.unicodeScalars {
      switch scalar {
      case "\"", "\\": text += "\\" + String(scalar)
      case "\u{0}"..."\u{1F}": text += " "
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
    if let timestamp { text += #","timestamp":\#(timestamp)"# }
    return Array((text + "}").utf8)
  }
}

extension APNSInquiry {
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

extension APNSInquiry {
  /// Empty, too large, not a JSON object, in this order. Sizes are bytes of the body as sent.
  mutating func checkPayload() throws(Refusal) {
    guard request.bodyBytes > 0 else { throw .badRequest("PayloadEmpty") }
    guard request.bodyBytes <= bodyBytesMax else { throw .payloadTooLarge }
    guard let payload = try? JSONDecoder().decode(PayloadOutline.self, from: Data(request.body)) else {
      throw .badRequest("PayloadEmpty")
    }
    lint(payload)
  }

  /// Without a push type the topic's suffix identifies a call.
  private var bodyBytesMax: Int {
    if let type = push.pushType { return type.bodyBytesMax }
    let isCall = push.topic != bundle && push.topic.hasSuffix(SimulatedPushType.voip.topicSuffix)
    return isCall ? SimulatedPushType.voip.bodyBytesMax : SimulatedPushType.alert.bodyBytesMax
  }

  /// Reports mistakes that APNs ignores. Devices then show nothing, or the wrong thing.
  mutating func lint(_ payload: PayloadOutline) {
    guard let aps = payload.aps, push.pushType != .mdm else { return }
    for key in aps.keys.subtracting(PayloadOutline.knownKeys).sorted() { report(.apsUnknownKey, key) }
    if let type = push.pushType, type != .liveactivity { lintStrayKeys(aps) }
    switch push.pushType {
    case .alert: lintAlert(aps)
    case .background: lintBackground(aps)
    case .liveactivity: lintLiveActivity(aps)
    case .widgets where !aps.keys.contains("content-changed"): report(.payloadTypeMismatch, "content-changed")
    default: break
    }
  }

  private mutating func lintStrayKeys(_ aps: PayloadOutline.Aps) {
    for key in aps.keys.intersection(PayloadOutline.liveActivityOnlyKeys).sorted() { report(.payloadTypeMismatch, key) }
  }

  private mutating func lintAlert(_ aps: PayloadOutline.Aps) {
    if aps.keys.isDisjoint(with: PayloadOutline.visibleKeys) { report(.payloadTypeMismatch, "nothing to show") }
  }

  private mutating func lintBackground(_ aps: PayloadOutline.Aps) {
    if !aps.keys.contains("content-available") { report(.payloadTypeMismatch, "content-available") }
    for key in aps.keys.intersection(PayloadOutline.visibleKeys).sorted() { report(.backgroundWithAlert, key) }
  }

  private mutating func lintLiveActivity(_ aps: PayloadOutline.Aps) {
    let required = PayloadOutline.liveActivityKeys(event: aps.event)
    for key in required where !aps.keys.contains(key) { report(.liveActivityMissingKey, key) }
  }
}

/// The members of a payload that the lint rules check. Decoding it proves that the body is a JSON object.
struct PayloadOutline: Decodable {
  struct Aps: Decodable {
    let keys: Set<String>
    let event: String?

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: MemberName.self)
      keys = Set(container.allKeys.map(\.stringValue))
      event = try? container.decode(String.self, forKey: MemberName("event"))
    }
  }

  /// Nil when it is missing or not an object.
  let aps: Aps?

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: MemberName.self)
    aps = try? container.decode(Aps.self, forKey: MemberName("aps"))
  }

  /// The documented members of `aps`. Source: "Generating a remote notification" and the pages on Live Activities and
  /// widgets (Apple).
  static let knownKeys: Set<String> = [
    "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content", "target-content-id",
    "interruption-level", "relevance-score", "filter-criteria", "timestamp", "event", "content-state", "stale-date",
    "dismissal-date", "attributes-type", "attributes", "input-push-token", "content-changed",
  ]

  static let visibleKeys: Set<String> = ["alert", "badge", "sound"]

  static let liveActivityOnlyKeys: Set<String> = ["event", "content-state", "attributes", "attributes-type"]

  /// Required members of a Live Activity push.
  static func liveActivityKeys(event: String?) -> [String] {
    switch event {
    case "start": ["timestamp", "event", "content-state", "attributes-type", "attributes", "alert"]
    case "end": ["timestamp", "event"]
    default: ["timestamp", "event", "content-state"]
    }
  }
}

/// The values of `apns-push-type`, each with its topic suffix and the limit of its body.
///
/// This table is independent of the product's own, so that a mistake there does not repeat here.
/// Source: "Sending notification requests to APNs" (Apple).
package enum SimulatedPushType: String, CaseIterable, Codable, Sendable {
  case alert
  /// Wakes the app in silence.
  case background
  /// Updates a watch face.
  case complication
  case controls
  case fileprovider
  case liveactivity
  case location
  /// Wakes a managed device.
  case mdm
  /// Wakes a walkie-talkie.
  case pushtotalk
  case voip
  case widgets

  var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .complication: ".complication"
    case .controls: ".push-type.controls"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .location: ".location-query"
    case .pushtotalk: ".voip-ptt"
    case .voip: ".voip"
    case .widgets: ".push-type.widgets"
    }
  }

  var bodyBytesMax: Int { self == .voip ? 5120 : 4096 }

  /// Whether Apple documents a priority as an error for this type.
  func refuses(priority: Int) -> Bool {
    switch self {
    case .background: priority != 5
    case .liveactivity: priority == 1
    default: false
    }
  }

  /// The bundle identifier in a topic of this type; nil without the suffix.
  func bundle(inTopic topic: String) -> String? {
    guard topic.hasSuffix(topicSuffix) else { return nil }
    return String(topic.dropLast(topicSuffix.count))
  }
}
