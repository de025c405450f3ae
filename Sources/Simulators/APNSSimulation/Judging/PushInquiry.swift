/// The state of one request during the checks. Attributes that were read stay when a check refuses.
struct PushInquiry {
  let request: InspectedRequest
  let environment: SimulatedEnvironment
  let now: WallInstant
  var push = JudgedPush()
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

extension PushInquiry {
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

extension PushInquiry {
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

extension PushInquiry {
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
