internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Reactors

/// A JSON object from a script. An unknown member is refused, because a misspelt one would silently have no effect.
protocol ControlDocument: Decodable, Sendable {
  associatedtype CodingKeys: CodingKey & CaseIterable
}

extension ControlDocument {
  /// Reads a body.
  /// - Throws: `ProblemDetails` with 400 that names the mistake.
  static func read(_ body: [UInt8]) throws(ProblemDetails) -> Self {
    try decodeControl(Checked<Self>.self, from: body).document
  }
}

/// Reads JSON that a person wrote.
/// - Throws: `ProblemDetails` with 400 that names the mistake.
func decodeControl<Value: Decodable>(
  _ type: Value.Type, from bytes: [UInt8]
) throws(ProblemDetails) -> Value {
  do {
    return try JSONDecoder().decode(type, from: Data(bytes))
  } catch {
    throw ProblemDetails.unfit(plainText(of: error))
  }
}

/// A document without unknown members; for documents inside others.
struct Checked<Document: ControlDocument>: Decodable, Sendable {
  let document: Document

  init(from decoder: any Decoder) throws {
    let names = Set(try decoder.container(keyedBy: MemberName.self).allKeys.map(\.stringValue))
    let known = Set(Document.CodingKeys.allCases.map(\.stringValue))
    if let stranger = names.subtracting(known).sorted().first {
      let text = "\(stranger) is none of \(known.sorted().joined(separator: ", "))"
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
    }
    document = try Document(from: decoder)
  }
}

/// The mistake in a document, for its author.
private func plainText(of error: any Error) -> String {
  switch error {
  case DecodingError.keyNotFound(let key, let context):
    "\(place(context.codingPath, key)) is missing"
  case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
    "\(place(context.codingPath)) has the wrong type: \(context.debugDescription)"
  case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty: context.debugDescription
  case DecodingError.dataCorrupted(let context): "\(place(context.codingPath)): \(context.debugDescription)"
  default: "the body does not fit: \(error)"
  }
}

private func place(_ path: [any CodingKey], _ last: (any CodingKey)? = nil) -> String {
  let names = (path + (last.map { [$0] } ?? [])).map { $0.intValue.map { "item \($0 + 1)" } ?? $0.stringValue }
  return names.isEmpty ? "the body" : names.joined(separator: ".")
}

/// The name of any JSON member.
struct MemberName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) {
    stringValue = name
  }

  init?(stringValue: String) {
    self.stringValue = stringValue
  }

  init?(intValue: Int) {
    return nil
  }
}

/// Limits of the numbers in scripts: larger than any use, and small enough for every sum.
enum ControlLimits {
  /// A day.
  static let millisecondsMax = 86_400_000
  /// A year.
  static let secondsMax = 31_536_000
  /// A century, in either direction.
  static let clockMillisecondsMax: Int64 = 3_155_760_000_000
  /// Requests, connections, streams.
  static let countMax = 1_000_000_000

  /// Accepts an absent number.
  /// - Throws: `ProblemDetails` that names the number and its range.
  static func check(
    _ name: String, _ number: Int?, from lowest: Int = 0, to highest: Int = millisecondsMax
  ) throws(ProblemDetails) {
    guard let number, !(lowest...highest).contains(number) else { return }
    throw ProblemDetails.unfit("\(name) is a number from \(lowest) to \(highest)")
  }

  /// Refuses members of other kinds, which would have no effect.
  static func refuseStrays<Kind: RawRepresentable<String> & Equatable>(
    _ kind: Kind, _ owners: [(member: String, isThere: Bool, kinds: [Kind])]
  ) throws(ProblemDetails) {
    for owner in owners where owner.isThere && !owner.kinds.contains(kind) {
      throw ProblemDetails.unfit("\(owner.member) means nothing to \(kind.rawValue)")
    }
  }
}

/// An object in a response; a member without a value is left out.
struct JSONMembers: Encodable, ExpressibleByDictionaryLiteral {
  private let members: [(name: String, value: (any Encodable)?)]

  init(dictionaryLiteral members: (String, (any Encodable)?)...) {
    self.members = members.map { ($0.0, $0.1) }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: MemberName.self)
    for case (let name, let value?) in members { try container.encode(value, forKey: MemberName(name)) }
  }
}

enum ControlAnswer {
  static func json(_ value: some Encodable) throws -> HTTPServerResponse {
    HTTPServerResponse(json: try sortedJSON(value))
  }

  static let done = HTTPServerResponse(status: .noContent)
}

/// JSON with the members in alphabetical order, so that equal values are equal texts.
func sortedJSON(_ value: some Encodable) throws -> [UInt8] {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return Array(try encoder.encode(value))
}

extension ProblemDetails {
  /// 400; `detail` explains the mistake to the author of the request.
  static func unfit(_ detail: String) -> ProblemDetails {
    ProblemDetails(.badRequest, detail: detail)
  }

  /// 503: a limit is reached.
  static func full(_ detail: String) -> ProblemDetails {
    ProblemDetails(.serviceUnavailable, detail: detail)
  }
}

extension HTTPServerRequest {
  /// A query parameter that is a whole number from 0; nil when absent.
  /// - Throws: `ProblemDetails` with 400 for another value.
  func queryNumber(_ name: String) throws(ProblemDetails) -> Int? {
    guard let text = head.queryValue(name) else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw ProblemDetails.unfit("\(name) is a whole number from 0")
    }
    return number
  }
}

/// Moves the simulated clock; negative values move it back.
struct ClockDocument: ControlDocument {
  var advanceMilliseconds: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case advanceMilliseconds = "advance_ms"
  }

  /// - Throws: `ProblemDetails` for more than a century.
  func checked() throws(ProblemDetails) -> Int64 {
    guard advanceMilliseconds.magnitude <= ControlLimits.clockMillisecondsMax.magnitude else {
      throw ProblemDetails.unfit("advance_ms moves the clock by a century at most")
    }
    return advanceMilliseconds
  }
}

extension HTTPRoutes {
  /// A route that takes a document and has no content in its response.
  mutating func take<Document: ControlDocument>(
    _ path: String, _ take: @escaping @Sendable (Document) throws -> Void
  ) {
    add(.post, path) { request, _ in
      try take(Document.read(request.body))
      return ControlAnswer.done
    }
  }

  /// A route that shows something.
  mutating func show(_ path: String, _ content: @escaping @Sendable (HTTPServerRequest) throws -> any Encodable) {
    add(.get, path) { request, _ in try ControlAnswer.json(content(request)) }
  }

  /// A route that forgets something.
  mutating func forget(_ path: String, _ forget: @escaping @Sendable () -> Void) {
    add(.delete, path) { _, _ in
      forget()
      return ControlAnswer.done
    }
  }

  /// A route that waits until `count` requests have come: ten seconds when the caller says nothing, longer than any should
  /// take, and ten minutes at the most.
  mutating func await(
    _ noun: String, total: @escaping @Sendable () -> Int, totals: @escaping @Sendable () -> any Encodable,
    _ wait: @escaping @Sendable (_ count: Int, _ limit: Duration, _ reactor: isolated Reactor) async -> Bool
  ) {
    add(.get, "/\(noun)/wait") { request, reactor in
      guard let count = try request.queryNumber("count") else {
        throw ProblemDetails.unfit("count is how many \(noun) to wait for")
      }
      let milliseconds = min(try request.queryNumber("timeout_ms") ?? 10_000, 600_000)
      guard await wait(count, .milliseconds(milliseconds), reactor) else {
        throw ProblemDetails(.requestTimeout, detail: "\(total()) of \(count) \(noun) came in time")
      }
      return try ControlAnswer.json(totals())
    }
  }
}
