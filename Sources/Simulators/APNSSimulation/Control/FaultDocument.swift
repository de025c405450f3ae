internal import HTTP1
internal import SimulationControl

/// An order of a server fault, also a waiting one in responses.
struct FaultDocument: ControlDocument, Encodable {
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
  case script(FaultScript.Entry)
  /// Strike every open connection.
  case strike(ServerFault)
  case refuseNext(Int)
  case refuseFor(milliseconds: Int)
}

extension FaultDocument {
  /// The order of the document, without `after_ms`.
  /// - Throws: `ProblemDetails` that names a missing or conflicting member.
  func order() throws(ProblemDetails) -> FaultOrder {
    for (name, number) in [
      ("after_ms", afterMilliseconds), ("delay_ms", delayMilliseconds), ("for_ms", forMilliseconds),
    ] { try ControlLimits.check(name, number) }
    for (name, number) in [("skip", skip), ("times", times), ("streams", streams)] {
      try ControlLimits.check(name, number, to: ControlLimits.countMax)
    }
    try refuseStrays()
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

  /// Refuses members of other kinds, which would have no effect.
  private func refuseStrays() throws(ProblemDetails) {
    let owners: [(member: String, isThere: Bool, kinds: [ServerFault.Kind])] = [
      ("last_stream", lastStream != nil, [.goAway]), ("debug", debug != nil, [.goAway]),
      ("code", code != nil, [.goAway, .resetStream]), ("streams", streams != nil, [.streams]),
      ("status", status != nil, [.answer]), ("reason", reason != nil, [.answer]),
      ("raw_body", rawBody != nil, [.answer]), ("delay_ms", delayMilliseconds != nil, [.delay]),
      ("for_ms", forMilliseconds != nil, [.refuseConnections]),
    ]
    for owner in owners where owner.isThere && !owner.kinds.contains(kind) {
      throw ProblemDetails.unfit("\(owner.member) means nothing to \(kind.rawValue)")
    }
    if kind == .refuseConnections, now != nil || skip != nil {
      throw ProblemDetails.unfit("refuse_connections takes times or for_ms, and after_ms")
    }
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

extension FaultDocument {
  init(_ entry: FaultScript.Entry) {
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
