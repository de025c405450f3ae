internal import HTTP1
internal import SimulationControl

/// What goes wrong with some of the next requests.
package struct PushFault: Equatable, Sendable {
  package enum Kind: String, Codable, CaseIterable, Sendable {
    /// A good push gets this answer instead of 201: a refusal, a redirect, `Retry-After`.
    case answer
    case delay
    /// The connection is closed, and the push not looked at.
    case dropBefore = "drop_before"
    /// The push is accepted, and the connection is closed instead of the answer.
    case dropAfter = "drop_after"
    /// No answer until the client closes the connection or the simulator stops.
    case blackHole = "black_hole"
  }

  package var kind: Kind
  /// Only requests for this subscription; nil for all.
  package var subscription: String?
  /// Requests that pass first.
  package var skip: Int
  /// Requests that it hits then.
  package var times: Int
  /// The status of an `answer`.
  package var status: Int
  /// The header fields of an `answer`, such as `retry-after` and `location`.
  package var fields: [String: String]
  /// The content of an `answer`.
  package var body: String
  package var delayMilliseconds: Int

  /// Describes a fault; the defaults hit the next request.
  package init(
    _ kind: Kind, subscription: String? = nil, skip: Int = 0, times: Int = 1, status: Int = 503,
    fields: [String: String] = [:], body: String = "", delayMilliseconds: Int = 0
  ) {
    self.kind = kind
    self.subscription = subscription
    self.skip = skip
    self.times = times
    self.status = status
    self.fields = fields
    self.body = body
    self.delayMilliseconds = delayMilliseconds
  }

  var response: PushResponse { PushResponse(status: status, reason: "scripted", fields: fields, body: body) }
}

/// Faults that wait for requests, in order.
struct PushFaultScript: Sendable {
  private static let entriesMax = 10_000

  private(set) var entries: [PushFault] = []

  /// - Returns: false when the script is full.
  mutating func append(_ fault: PushFault) -> Bool {
    guard entries.count < Self.entriesMax else { return false }
    if fault.times > 0 { entries.append(fault) }
    return true
  }

  mutating func removeAll() {
    entries = []
  }

  /// The fault of the next request; nil when it passes.
  mutating func next(for subscription: String) -> PushFault? {
    let place = entries.firstIndex { $0.subscription == nil || $0.subscription == subscription }
    guard let place else { return nil }
    if entries[place].skip > 0 {
      entries[place].skip -= 1
      return nil
    }
    let fault = entries[place]
    entries[place].times -= 1
    if entries[place].times == 0 { entries.remove(at: place) }
    return fault
  }
}

/// An order of a fault, also a waiting one in responses.
struct FaultDocument: ControlDocument, Encodable {
  var kind: PushFault.Kind
  var subscription: String?
  /// 0 when absent.
  var skip: Int?
  /// 1 when absent.
  var times: Int?
  var status: Int?
  var fields: [String: String]?
  var body: String?
  var delayMilliseconds: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, subscription, skip, times, status, fields, body
    case delayMilliseconds = "delay_ms"
  }

  init(_ fault: PushFault) {
    (kind, subscription, skip, times) = (fault.kind, fault.subscription, fault.skip, fault.times)
    if kind == .answer { (status, fields, body) = (fault.status, fault.fields, fault.body) }
    if kind == .delay { delayMilliseconds = fault.delayMilliseconds }
  }

  /// - Throws: `ProblemDetails` that names a missing, impossible or meaningless member.
  func fault() throws(ProblemDetails) -> PushFault {
    for (name, number) in [("skip", skip), ("times", times)] {
      try ControlLimits.check(name, number, to: ControlLimits.countMax)
    }
    try ControlLimits.check("delay_ms", delayMilliseconds)
    try ControlLimits.check("status", status, from: 200, to: 599)
    guard (kind == .answer) == (status != nil), kind == .answer || (fields == nil && body == nil) else {
      throw ProblemDetails.unfit("answer has status and, if wanted, fields and body; other kinds have none of them")
    }
    guard (kind == .delay) == (delayMilliseconds != nil) else {
      throw ProblemDetails.unfit("delay has delay_ms; other kinds have not")
    }
    return PushFault(
      kind, subscription: subscription, skip: skip ?? 0, times: times ?? 1, status: status ?? 503,
      fields: fields ?? [:], body: body ?? "", delayMilliseconds: delayMilliseconds ?? 0)
  }
}
