import Foundation
import Synchronization
import TacetClient
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One of the cases that the clients in Swift and TypeScript share. `Cases/README.md` describes their format.
struct SharedCase: Sendable, CustomTestStringConvertible {
  let name: String
  let given: JSON
  let steps: [JSON]

  var testDescription: String { name }

  /// The cases of a file that are for Swift.
  static func all(_ file: String) -> [SharedCase] {
    guard let url = Bundle.module.url(forResource: file, withExtension: "json", subdirectory: "Cases"),
      let data = try? Data(contentsOf: url), let cases = try? JSON(data).list
    else { preconditionFailure("\(file) cannot be read") }
    return cases.filter { ($0["only"]?.text ?? "swift") == "swift" }.map {
      SharedCase(name: $0["name"]?.text ?? "", given: $0["given"] ?? .null, steps: $0["steps"]?.list ?? [])
    }
  }

  /// The identifiers of a list, in which an object stands for those of a campaign's days and slots.
  static func identifiers(_ list: JSON?) -> [String] {
    (list?.list ?? []).flatMap { $0.text.map { [$0] } ?? identifiers(ofSlots: $0) }
  }

  /// By day and then slot.
  static func identifiers(ofSlots item: JSON) -> [String] {
    guard let campaign = item["campaign"]?.text, let slots = item["slots"]?.list?.compactMap(\.text),
      let from = item["from"]?.text, let days = item["days"]?.number
    else { return [] }
    let first = instant("\(from)T00:00:00Z")
    return (0..<days).flatMap { day in
      let date = first.addingTimeInterval(Double(day) * 86_400).formatted(.iso8601).prefix(10)
      return slots.map { "\(campaign).\($0).\(date)" }
    }
  }

  static func instant(_ text: String) -> Date {
    guard let date = try? Date.ISO8601FormatStyle().parse(text) else { preconditionFailure("\(text) is no instant") }
    return date
  }
}

/// The service of the shared cases: answers by path, and notes what was asked.
final class CaseServer: ClientTransport {
  struct Asked: Sendable {
    let line: String
    let tag: String?
    let content: JSON?
    let byteCount: Int
    /// Whether it was answered with a success.
    let isAnswered: Bool
  }

  struct State {
    /// By the end of the path; the empty text is for all others.
    var answers: [String: [JSON]] = [:]
    var asked: [Asked] = []
  }

  private let state = Mutex(State())

  /// The answers of a step. One counts for all requests of the step.
  func script(_ answers: [String: JSON]) {
    state.withLock {
      $0.answers = answers.mapValues { $0.list ?? [$0] }
      $0.asked = []
    }
  }

  /// What was asked in this step.
  var asked: [Asked] { state.withLock { $0.asked } }

  func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    guard let url = request.url else { throw URLError(.badURL) }
    let answer = state.withLock { $0.next(for: url.lastPathComponent) }
    let status = answer["status"]?.number
    note(request, to: url, isAnswered: status.map { $0 < 300 } ?? false)
    var fields: [String: String] = [:]
    fields["ETag"] = answer["etag"]?.text
    fields["Retry-After"] = answer["retry_after"]?.text
    guard let status,
      let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    else { throw URLError(.notConnectedToInternet) }
    return (try Self.content(of: answer), head)
  }

  private func note(_ request: URLRequest, to url: URL, isAnswered: Bool) {
    let asked = Asked(
      line: "\(request.httpMethod ?? "") \(url.path)\(url.query.map { "?\($0)" } ?? "")",
      tag: request.value(forHTTPHeaderField: "If-None-Match"),
      content: request.httpBody.flatMap { try? JSON($0) }, byteCount: request.httpBody?.count ?? 0,
      isAnswered: isAnswered)
    state.withLock { $0.asked.append(asked) }
  }

  private static func content(of answer: JSON) throws -> Data {
    if let body = answer["body"] { return try body.data }
    guard let rows = answer["rows"]?.list else { return Data() }
    return try JSON.object(["settings_hint": .boolean(false), "rows": .array(rows.flatMap(Self.rows))]).data
  }

  /// The rows that an element of `rows` stands for.
  private static func rows(_ item: JSON) -> [JSON] {
    if let text = item.text { return [row(text, [:])] }
    let members = item.members ?? [:]
    guard let identifier = members["identifier"]?.text else {
      return SharedCase.identifiers(ofSlots: item).map { row($0, [:]) }
    }
    return [row(identifier, members)]
  }

  private static func row(_ identifier: String, _ members: [String: JSON]) -> JSON {
    let parts = identifier.split(separator: ".", omittingEmptySubsequences: false).map(String.init) + ["", "", ""]
    let time = "\(parts[2])T\(parts[1].prefix(2)):\(parts[1].suffix(2)):00"
    let row: [String: JSON] = [
      "identifier": .string(identifier), "campaign": .string(parts[0]), "slot": .string(parts[1]),
      "fire_date": .string(parts[2]), "fire_at": .string("\(time).000Z"), "local_time": .string(time),
      "title": .string("T"), "body": .string("B"), "category": .string("TS_DAILY"),
      "thread_id": .string("\(parts[0]).\(parts[2])"), "data": .object([:]), "tolerance_seconds": .number(0),
    ]
    return .object(row.merging(members) { $1 }.filter { $0.value != .null })
  }
}

extension [String: [JSON]] {
  fileprivate mutating func next(for name: String) -> JSON {
    let key = self[name] == nil ? "" : name
    guard let list = self[key], let first = list.first else { return .string("offline") }
    if list.count > 1 { self[key]?.removeFirst() }
    return first
  }
}

extension CaseServer.State {
  fileprivate mutating func next(for name: String) -> JSON { answers.next(for: name) }
}

/// Documents in memory. All names have the first document until it is replaced.
final class MemoryStore: ClientStore {
  struct State {
    var first: Data?
    var documents: [String: Data?] = [:]
    var writes = 0
    var writesLeft = Int.max
  }

  private let state: Mutex<State>

  init(_ first: String? = nil) { state = Mutex(State(first: first.map { Data($0.utf8) })) }

  /// The documents that were stored.
  var writes: Int { state.withLock { $0.writes } }

  /// Further documents are not stored, as by a process that dies now.
  func die(after writes: Int) { state.withLock { $0.writesLeft = writes } }

  /// Documents are stored again.
  func revive() { die(after: .max) }

  func load(_ name: String) -> Data? { state.withLock { $0.documents[name] ?? $0.first } }

  func save(_ document: Data?, as name: String) throws {
    try state.withLock {
      guard $0.writesLeft > 0 else { throw CocoaError(.fileWriteUnknown) }
      $0.writesLeft -= 1
      $0.writes += 1
      $0.documents[name] = .some(document)
    }
  }
}
