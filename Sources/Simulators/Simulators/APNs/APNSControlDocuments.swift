internal import HTTP1
internal import Reactors

/// A device in registrations and responses.
struct APNSDeviceDocument: ControlDocument, Encodable {
  /// In responses and scenarios. In requests it is in the path.
  var token: String?
  var environment: SimulatedEnvironment
  var bundle: String
  /// The name of the physical device; nil when only this token belongs to it.
  var name: String?
  /// Nil for an ordinary device token.
  var kind: KindText?
  /// The attributes type of a token for Live Activities; optional with an update token.
  var attributesType: String?
  /// Whether the user allows updates of an activity that a push starts; nil for the conduct's choice.
  var allowsUpdates: Bool?
  /// The activity of an update token.
  var activity: String?
  var unregisteredAtMilliseconds: Int64?
  var expiredAtMilliseconds: Int64?
  var answers: [ScriptedAnswer]?
  var delayMilliseconds: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case token, environment, answers, kind, activity
    case bundle = "bundle_id"
    case name = "device"
    case attributesType = "attributes_type"
    case allowsUpdates = "allows_updates"
    case unregisteredAtMilliseconds = "unregistered_at_ms"
    case expiredAtMilliseconds = "expired_at_ms"
    case delayMilliseconds = "delay_ms"
  }

  init(_ device: RegisteredDevice, token: String) {
    self.token = token
    environment = device.environment
    bundle = device.bundle
    name = device.name
    show(device.kind)
    switch device.end {
    case .unregistered(let moment): unregisteredAtMilliseconds = moment
    case .expired(let moment): expiredAtMilliseconds = moment
    case nil: break
    }
    answers = device.answers.isEmpty ? nil : device.answers
    delayMilliseconds = device.delayMilliseconds == 0 ? nil : device.delayMilliseconds
  }

  /// - Throws: `ProblemDetails` for impossible values.
  func device() throws(ProblemDetails) -> RegisteredDevice {
    try ControlLimits.check("delay_ms", delayMilliseconds)
    guard unregisteredAtMilliseconds == nil || expiredAtMilliseconds == nil else {
      throw ProblemDetails.unfit("a token ends once: unregistered_at_ms or expired_at_ms")
    }
    for answer in answers ?? [] {
      try ControlLimits.check("status", answer.status, from: 200, to: 599)
      try ControlLimits.check("times", answer.times, from: 1, to: ScriptedAnswer.always)
    }
    let end =
      unregisteredAtMilliseconds.map { RegisteredDevice.End.unregistered(atMilliseconds: $0) }
      ?? expiredAtMilliseconds.map { .expired(atMilliseconds: $0) }
    return RegisteredDevice(
      environment: environment, bundle: bundle, name: name, kind: try tokenKind(), end: end, answers: answers ?? [],
      delayMilliseconds: delayMilliseconds ?? 0)
  }
}

/// The registration of a signing key.
struct KeyDocument: ControlDocument {
  var identifier: String
  var team: String
  /// A public or private key. Only the public half is kept.
  var pem: String
  /// Nil for both.
  var environment: SimulatedEnvironment?
  /// Nil for every app of the team.
  var topics: [String]?
  var related: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case pem, environment, topics
    case identifier = "key_id"
    case team = "team_id"
    case related = "related_key_id"
  }

  func key() throws(ProblemDetails) -> ProviderKey {
    guard let publicKey = try? ProviderKey.publicKey(fromPEM: pem) else {
      throw ProblemDetails.unfit("pem is not a P-256 key")
    }
    return ProviderKey(
      identifier: identifier, team: team,
      scope: topics.map { .topics(Set($0), related: related) } ?? .team,
      environments: environment.map { [$0] } ?? Set(SimulatedEnvironment.allCases),
      publicKey: publicKey)
  }
}

/// The registration of an app.
struct BundleDocument: ControlDocument {
  var bundle: String
  /// Nil when every team may push to it.
  var team: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case bundle = "bundle_id"
    case team = "team_id"
  }
}

/// The registration of a client certificate.
struct CertificateDocument: ControlDocument {
  /// The certificate. Further ones are ignored.
  var pem: String
  /// Nil for both.
  var environment: SimulatedEnvironment?
  var topics: [String]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case pem, environment, topics
  }

  func certificate() throws(ProblemDetails) -> (certificate: RegisteredCertificate, der: [UInt8]) {
    guard let der = try? PEM.text(pem).certificatesAsDER().first else {
      throw ProblemDetails.unfit("pem is not a certificate")
    }
    guard !topics.isEmpty else { throw ProblemDetails.unfit("topics names at least one") }
    let environments = environment.map { [$0] } ?? Set(SimulatedEnvironment.allCases)
    return (RegisteredCertificate(environments: environments, topics: topics), der)
  }
}

extension APNSDeviceDocument {
  enum KindText: String, Codable, CaseIterable {
    case device
    case pushToStart = "push_to_start"
    case update
  }

  mutating func show(_ kind: TokenKind) {
    switch kind {
    case .device: break
    case .pushToStart(let type, let allowsUpdates):
      (self.kind, attributesType, self.allowsUpdates) = (.pushToStart, type, allowsUpdates)
    case .update(let activity, let type):
      (self.kind, self.activity) = (.update, activity)
      attributesType = type.isEmpty ? nil : type
    }
  }

  /// - Throws: `ProblemDetails` that names a missing member, or one of another kind.
  func tokenKind() throws(ProblemDetails) -> TokenKind {
    let kind = kind ?? .device
    if kind != .update, activity != nil { throw Self.stray("activity", kind) }
    if kind != .pushToStart, allowsUpdates != nil { throw Self.stray("allows_updates", kind) }
    switch kind {
    case .device:
      if attributesType != nil { throw Self.stray("attributes_type", kind) }
      return .device
    case .pushToStart:
      let type = try Self.needed("attributes_type", attributesType)
      return .pushToStart(attributesType: type, allowsUpdates: allowsUpdates)
    case .update:
      return .update(activity: try Self.needed("activity", activity), attributesType: attributesType ?? "")
    }
  }

  private static func stray(_ member: String, _ kind: KindText) -> ProblemDetails {
    ProblemDetails.unfit("\(member) means nothing to a token of kind \(kind.rawValue)")
  }

  private static func needed(_ name: String, _ text: String?) throws(ProblemDetails) -> String {
    guard let text, !text.isEmpty else { throw ProblemDetails.unfit("\(name) is missing") }
    return text
  }
}

/// The conduct of the server. Absent members stay unchanged.
struct APNSConductDocument: ControlDocument, Encodable {
  var delayMilliseconds: Int?
  /// 0 removes the limit.
  var idleMilliseconds: Int?
  /// 0 pushes remove the limit.
  var tokenRate: TokenRate?
  /// 0 connections remove the limit.
  var churn: ChurnLimit?
  var allowsUpdates: Bool?
  /// 0 removes the limit.
  var activityBudget: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case delayMilliseconds = "delay_ms"
    case idleMilliseconds = "idle_ms"
    case tokenRate = "token_rate"
    case churn
    case allowsUpdates = "allows_updates"
    case activityBudget = "activity_budget"
  }

  init(_ conduct: ServerConduct, _ tokenRate: TokenRate?) {
    delayMilliseconds = conduct.delayMilliseconds
    idleMilliseconds = conduct.idleMilliseconds
    self.tokenRate = tokenRate
    churn = conduct.churn
    allowsUpdates = conduct.allowsActivityUpdates
    activityBudget = conduct.activityBudget
  }

  /// - Throws: `ProblemDetails` for a number out of range.
  func check() throws(ProblemDetails) {
    try ControlLimits.check("delay_ms", delayMilliseconds)
    try ControlLimits.check("idle_ms", idleMilliseconds)
    try ControlLimits.check("token_rate.pushes", tokenRate?.pushes, to: ControlLimits.countMax)
    try ControlLimits.check("token_rate.seconds", tokenRate?.seconds, from: 1, to: ControlLimits.secondsMax)
    try ControlLimits.check("activity_budget", activityBudget, to: ControlLimits.countMax)
    try ControlLimits.check("churn.connections", churn?.connections, to: ControlLimits.countMax)
    try ControlLimits.check("churn.seconds", churn?.seconds, from: 1, to: ControlLimits.secondsMax)
    try ControlLimits.check("churn.refused_ms", churn?.refusedMilliseconds, from: 1)
  }

  func change(_ conduct: inout ServerConduct) {
    if let delayMilliseconds { conduct.delayMilliseconds = delayMilliseconds }
    if let idleMilliseconds { conduct.idleMilliseconds = idleMilliseconds == 0 ? nil : idleMilliseconds }
    if let allowsUpdates { conduct.allowsActivityUpdates = allowsUpdates }
    if let activityBudget { conduct.activityBudget = activityBudget == 0 ? nil : activityBudget }
    if let churn { conduct.churn = churn.connections == 0 ? nil : churn }
  }

  func change(_ registry: inout SimulationRegistry) {
    if let tokenRate { registry.tokenRate = tokenRate.pushes == 0 ? nil : tokenRate }
  }
}

/// An order of a server fault, also a waiting one in responses.
struct APNSFaultDocument: ControlDocument, Encodable {
  var kind: ServerFault.Kind
  /// Strike every open connection at once instead of coming requests.
  var now: Bool?
  /// The fault is inactive for this time.
  var afterMilliseconds: Int?
  /// Requests that pass first; 0 when absent.
  var skip: Int?
  /// Requests that it hits, or connections that are refused; 1 when absent.
  var times: Int?
  /// `current` (when absent), `previous`, `none`, `all`, or a stream's number.
  var lastStream: LastStreamText?
  /// The HTTP/2 error code of a GOAWAY (0 when absent) or a reset (2 when absent).
  var code: UInt32?
  /// The text of a GOAWAY; when absent `{"reason":"Shutdown"}`, or no text if `last_stream` is `all`.
  var debug: String?
  /// The number that `streams` announces.
  var streams: Int?
  /// The status, reason and body of `answer`.
  var status: Int?
  var reason: String?
  var rawBody: String?
  var delayMilliseconds: Int?
  /// The duration of `refuse_connections`; when absent `times` counts.
  var forMilliseconds: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, now, skip, times, code, debug, streams, status, reason
    case afterMilliseconds = "after_ms"
    case lastStream = "last_stream"
    case rawBody = "raw_body"
    case delayMilliseconds = "delay_ms"
    case forMilliseconds = "for_ms"
  }
}

/// The stream of a GOAWAY: a word, or a number as JSON number or string.
struct LastStreamText: Codable {
  let text: String

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int32.self) {
      text = String(number)
    } else {
      text = try container.decode(String.self)
    }
  }

  init(_ lastStream: ServerFault.LastStream) {
    text =
      switch lastStream {
      case .current: "current"
      case .previous: "previous"
      case .none: "none"
      case .all: "all"
      case .stream(let number): String(number)
      }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  func lastStream() throws(ProblemDetails) -> ServerFault.LastStream {
    switch text {
    case "current": return .current
    case "previous": return .previous
    case "none": return .none
    case "all": return .all
    default:
      guard let number = Int32(text), number >= 0 else {
        throw ProblemDetails.unfit("last_stream is current, previous, none, all, or a stream's number")
      }
      return .stream(number)
    }
  }
}

enum FaultOrder: Equatable {
  /// Strike coming requests.
  case script(WaitingFault)
  /// Strike every open connection.
  case strike(ServerFault)
  case refuseNext(Int)
  case refuseFor(milliseconds: Int)
}

extension APNSFaultDocument {
  /// The order of the document, without `after_ms`.
  /// - Throws: `ProblemDetails` that names a missing or conflicting member.
  func order() throws(ProblemDetails) -> FaultOrder {
    for (name, number) in [
      ("after_ms", afterMilliseconds), ("delay_ms", delayMilliseconds), ("for_ms", forMilliseconds),
    ] { try ControlLimits.check(name, number) }
    for (name, number) in [("skip", skip), ("times", times), ("streams", streams)] {
      try ControlLimits.check(name, number, to: ControlLimits.countMax)
    }
    try ControlLimits.refuseStrays(
      kind,
      [
        ("last_stream", lastStream != nil, [.goAway]), ("debug", debug != nil, [.goAway]),
        ("code", code != nil, [.goAway, .resetStream]), ("streams", streams != nil, [.streams]),
        ("status", status != nil, [.answer]), ("reason", reason != nil, [.answer]),
        ("raw_body", rawBody != nil, [.answer]), ("delay_ms", delayMilliseconds != nil, [.delay]),
        ("for_ms", forMilliseconds != nil, [.refuseConnections]),
      ])
    if kind == .refuseConnections, now != nil || skip != nil {
      throw ProblemDetails.unfit("refuse_connections takes times or for_ms, and after_ms")
    }
    if kind == .refuseConnections {
      return forMilliseconds.map { .refuseFor(milliseconds: $0) } ?? .refuseNext(times ?? 1)
    }
    let fault = try fault()
    guard now == true else { return .script(.init(fault, skip: skip ?? 0, times: times ?? 1)) }
    guard fault.concernsConnection else {
      throw ProblemDetails.unfit("\(kind.rawValue) needs a request; leave out now")
    }
    guard skip == nil, times == nil else { throw ProblemDetails.unfit("skip and times count requests; leave out now") }
    return .strike(fault)
  }

  private func fault() throws(ProblemDetails) -> ServerFault {
    switch kind {
    case .goAway: try goAway()
    case .dropBefore: .dropBeforeProcessing
    case .dropAfter: .dropAfterProcessing
    case .blackHole: .blackHole
    case .silence: .silence
    case .ignorePings: .ignorePings
    case .refuseStream: .refuseStream
    case .resetStream: .resetStream(code: code ?? 2)
    case .streams: .announceStreams(try needed("streams", streams))
    case .answer: .answer(try answer())
    case .delay: .delay(milliseconds: try needed("delay_ms", delayMilliseconds))
    case .refuseConnections: preconditionFailure("refuse_connections is ordered without a request")
    }
  }

  private func goAway() throws(ProblemDetails) -> ServerFault {
    let last = try lastStream?.lastStream() ?? .current
    let usual = last == .all ? "" : #"{"reason":"Shutdown"}"#
    return .goAway(lastStream: last, code: code ?? 0, debug: debug ?? usual)
  }

  private func answer() throws(ProblemDetails) -> ScriptedAnswer {
    let status = try needed("status", status)
    try ControlLimits.check("status", status, from: 200, to: 599)
    return ScriptedAnswer(status: status, reason: reason, rawBody: rawBody)
  }

  private func needed(_ name: String, _ number: Int?) throws(ProblemDetails) -> Int {
    guard let number else { throw ProblemDetails.unfit("\(name) is missing") }
    return number
  }
}

extension APNSFaultDocument {
  init(_ entry: WaitingFault) {
    self.init(kind: entry.fault.kind)
    skip = entry.skip
    times = entry.times
    switch entry.fault {
    case .goAway(let last, let code, let debug): (lastStream, self.code, self.debug) = (.init(last), code, debug)
    case .resetStream(let code): self.code = code
    case .announceStreams(let count): streams = count
    case .answer(let answer): (status, reason, rawBody) = (answer.status, answer.reason, answer.rawBody)
    case .delay(let milliseconds): delayMilliseconds = milliseconds
    default: break
    }
  }
}
