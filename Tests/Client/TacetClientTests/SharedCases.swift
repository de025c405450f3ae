import Foundation
import Synchronization
import Testing

@testable import TacetClient

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

@Suite("Shared cases of calls")
struct CallCaseTests {
  private let server = CaseServer()
  private let sleeps = ManualSleep()

  @Test("a call is made as by every client", arguments: SharedCase.all("call-cases"))
  func call(shared: SharedCase) async throws {
    sleeps.open()
    let hasToken = shared.given["token"] != .null
    let client = PushServiceClient(
      origin: URL(string: "https://push.example.com")!, transport: server,
      token: {
        guard hasToken else { throw URLError(.userAuthenticationRequired) }
        return "t"
      }, sleep: { [sleeps] in try await sleeps.sleep($0) })
    for step in shared.steps {
      server.script(["": step["server"] ?? .null])
      var result: JSON?
      var failure: PushServiceError?
      do { result = try await perform(step, client) } catch let error as PushServiceError { failure = error }
      check(try #require(step["expect"]), result, failure)
    }
  }

  private func check(_ expect: JSON, _ result: JSON?, _ failure: PushServiceError?) {
    let requests = expect["requests"]?.list ?? []
    #expect(server.asked.map(\.line) == requests.map { $0["line"]?.text })
    #expect(server.asked.map(\.content) == requests.map { $0["body"] })
    #expect(server.asked.map(\.tag) == requests.map { $0["if_none_match"]?.text })
    #expect(failure?.code == expect["error"]?.text.map(Self.code))
    if let field = expect["field"]?.text { #expect(failure?.field == field) }
    if let pauses = expect["pauses"]?.list { #expect(sleeps.asked.map(JSON.init) == pauses) }
    if let expected = expect["result"]?.members {
      #expect(result?.members?.filter { expected[$0.key] != nil } == expected)
    } else if expect["result"] != nil {
      #expect(result == .null)
    }
  }

  static func code(_ word: String) -> PushServiceError.Code {
    let codes: [String: PushServiceError.Code] = [
      "unreachable": .unreachable, "unavailable": .unavailable, "unauthorized": .unauthorized,
      "forbidden": .forbidden, "not_found": .notFound, "refused": .refused, "no_token": .noToken,
    ]
    guard let code = codes[word] else { preconditionFailure("unknown error \(word)") }
    return code
  }

  /// What the call returns, as JSON; null for nothing.
  private func perform(_ step: JSON, _ client: PushServiceClient) async throws -> JSON {
    let args = Arguments(values: step["args"]?.members ?? [:])
    switch step["do"]?.text {
    case "register": try await client.register(args.device())
    case "removeDevice": try await client.removeDevice(token: args.data("token"))
    case "markRead":
      let receipt = try await client.markRead(
        conversation: args.id("conversation"), upTo: try? args.id("up_to"), deviceToken: try? args.data("device_token"))
      return .object(["badge": .number(Double(receipt.badge)), "read": .number(Double(receipt.read))])
    case "active": try await client.active()
    case "opened": try await client.opened(args.id("id"))
    case "look": try await client.look(at: args.surface())
    case "leave": try await client.leave(args.surface())
    default: return try await performAboutSlots(step["do"]?.text, args, client)
    }
    return .null
  }

  private func performAboutSlots(
    _ name: String?, _ args: Arguments, _ client: PushServiceClient
  ) async throws -> JSON {
    switch name {
    case "schedule":
      let schedule = try await client.schedule(
        days: args.values["days"]?.number ?? 7, max: args.values["max"]?.number ?? 64,
        deviceToken: try? args.data("device_token"), unless: args.known(#"{"rows":[],"settings_hint":false,"tag":TAG}"#)
      )
      return try schedule.map(Self.json) ?? .null
    case "configuration":
      let known = try args.values["tag"].map { tag in
        var known = try JSONDecoder().decode(
          SlotConfiguration.self, from: Data(#"{"flags":{},"channels":[],"categories":[]}"#.utf8))
        known.tag = tag.text ?? ""
        return known
      }
      return try await client.configuration(unless: known).map(Self.json) ?? .null
    case "slots": return try Self.json(try await client.slots(of: args.text("campaign")))
    case "choose":
      let slots = try JSONDecoder().decode(UserSlots.self, from: try #require(args.values["slots"]).data)
      return try Self.json(try await client.choose(slots, of: args.text("campaign")))
    case "deliver":
      let delivery = try await client.deliver(slot: args.text("slot"), of: args.text("campaign"))
      return .object(["queued": .boolean(delivery.queued), "reason": delivery.reason.map { .string($0) } ?? .null])
    case "reportAction":
      let action = try JSONDecoder().decode(SlotAction.self, from: try JSON.object(args.values).data)
      return .object(["streak": try await client.report(action).streak.map { .number(Double($0)) } ?? .null])
    case "reportEvents":
      let events = try JSONDecoder().decode([SlotEvent].self, from: try #require(args.values["events"]).data)
      let receipt = try await client.report(events)
      return .object([
        "accepted": .number(Double(receipt.accepted)), "duplicates": .number(Double(receipt.duplicates)),
        "rejected": .array(receipt.rejected.map { .object(["index": .number(Double($0.index))]) }),
      ])
    default:
      Issue.record("unknown call \(name ?? "")")
      return .null
    }
  }

  private static func json(_ value: some Encodable) throws -> JSON { try JSON(JSONEncoder().encode(value)) }
}

extension JSON {
  fileprivate init(_ duration: Duration) {
    self = .number(Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18)
  }
}

/// The arguments of a call by their names.
private struct Arguments {
  let values: [String: JSON]

  func text(_ name: String) throws -> String { try #require(values[name]?.text) }
  func id(_ name: String) throws -> UUID {
    guard let id = values[name]?.text.flatMap(UUID.init) else { throw CocoaError(.coderValueNotFound) }
    return id
  }
  func data(_ name: String) throws -> Data {
    guard let data = values[name]?.text.flatMap(DeviceRegistration.token) else { throw CocoaError(.coderValueNotFound) }
    return data
  }
  func surface() throws -> Surface { Surface(kind: try text("kind"), id: try id("id")) }

  /// A document that has the argument `tag` as its entity tag; nil without it.
  func known<Document: Decodable>(_ text: String) throws -> Document? {
    guard let tag = values["tag"] else { return nil }
    let tagText = String(decoding: try JSONEncoder().encode(tag), as: UTF8.self)
    return try JSONDecoder().decode(
      Document.self, from: Data(text.replacingOccurrences(of: "TAG", with: tagText).utf8))
  }

  func device() throws -> DeviceRegistration {
    DeviceRegistration(
      deviceToken: try data("token"),
      environment: values["environment"]?.text.flatMap(DeviceRegistration.Environment.init),
      app: values["app"]?.text, platform: values["platform"]?.text, locale: values["locale"]?.text,
      timeZone: values["time_zone"]?.text,
      authorization: values["authorization"]?.text.flatMap(DeviceRegistration.Authorization.init))
  }
}

@Suite("Shared cases of schedules")
struct ScheduleCaseTests {
  @Test("a schedule is kept as in every client", arguments: SharedCase.all("schedule-cases"))
  func schedule(shared: SharedCase) async throws {
    let run = try ScheduleRun(shared.given)
    for (index, step) in shared.steps.enumerated() { try await run.take(step, "step \(index + 1)") }
  }
}

/// A device that takes the steps of one case.
private final class ScheduleRun {
  private let device: ManualDevice
  private let server = CaseServer()
  private let store: MemoryStore
  private var queue: TelemetryQueue
  private var keeper: ScheduleKeeper
  private var error: PushServiceError.Code?

  init(_ given: JSON) throws {
    device = ManualDevice(at: SharedCase.instant(try #require(given["now"]?.text)))
    store = MemoryStore(given["stored"]?.text)
    (queue, keeper) = Self.start(server, device, store)
    device.held = SharedCase.identifiers(given["pending"])
    try set(given)
  }

  private static func start(
    _ server: CaseServer, _ device: ManualDevice, _ store: MemoryStore
  ) -> (TelemetryQueue, ScheduleKeeper) {
    let client = PushServiceClient(server)
    let queue = TelemetryQueue(client, store: store) { Data([0xAB]) }
    return (queue, ScheduleKeeper(client, scheduler: device, queue: queue, store: store, clock: device.clock))
  }

  private func set(_ circumstances: JSON) throws {
    if let text = circumstances["at"]?.text { device.now = SharedCase.instant(text) }
    if let name = circumstances["zone"]?.text { device.zone = try #require(TimeZone(identifier: name)) }
    if let word = circumstances["permission"]?.text {
      device.permission = try #require(DeviceRegistration.Authorization(rawValue: word))
    }
    let gone = SharedCase.identifiers(circumstances["pending_gone"])
    device.held.removeAll(where: gone.contains)
    device.take(circumstances["arm_denied_after"]?.number ?? .max, then: .denied)
  }

  func take(_ step: JSON, _ place: Comment) async throws {
    try set(step)
    server.script([
      "schedule": step["server"]?["schedule"] ?? .string("offline"),
      "telemetry": step["server"]?["telemetry"] ?? .object(["status": .number(200)]),
    ])
    error = nil
    try await perform(#require(step["do"]?.text))
    try await check(#require(step["expect"]), place)
  }

  private func perform(_ word: String) async throws {
    switch word {
    case "keep": do { try await keeper.keep() } catch { self.error = error.code }
    case "trigger":
      let wasWaiting = await keeper.isWaiting
      await keeper.trigger()
      if await keeper.isWaiting, !wasWaiting { await device.waitForSleeper() }
    case "pass": if device.wakeDue() > 0 { await keeper.settle() }
    case "clear": await keeper.clear()
    case "restart": (queue, keeper) = Self.start(server, device, store)
    default: Issue.record("unknown step \(word)")
    }
  }

  private func check(_ expect: JSON, _ place: Comment) async throws {
    let changes = device.changes()
    #expect(changes.armed.map(\.identifier) == SharedCase.identifiers(expect["armed"]), place)
    #expect(changes.cancelled.sorted() == SharedCase.identifiers(expect["cancelled"]).sorted(), place)
    for (identifier, instant) in expect["armed_at"]?.members ?? [:] {
      let date = changes.armed.first { $0.identifier == identifier }?.date
      #expect(date == instant.text.map(SharedCase.instant), place)
    }
    #expect(error == expect["error"]?.text.map(CallCaseTests.code), place)
    if let reads = expect["reads"]?.list {
      #expect(server.asked.filter { $0.line.contains("/v1/schedule") }.map(\.tag) == reads.map(\.text), place)
    }
    if let sent = expect["sent"]?.list { #expect(self.sent == sent.map(\.text), place) }
    if let queued = expect["queued"]?.number { #expect(await queue.count == queued, place) }
    if let pending = expect["pending"] {
      #expect(device.held.sorted() == SharedCase.identifiers(pending).sorted(), place)
    }
  }

  /// The code and the identifier of each event that the service has taken.
  private var sent: [String?] {
    let reports = server.asked.filter { $0.isAnswered && $0.line == "POST /v1/telemetry" }
    let events: [JSON] = reports.flatMap { $0.content?["events"]?.list ?? [] }
    return events.map { event in
      guard event["device_token"]?.text == "ab", let code = event["code"]?.text else { return nil }
      return event["identifier"]?.text.map { "\(code) \($0)" } ?? code
    }
  }
}

/// Any JSON value, compared without regard to the order of members.
enum JSON: Hashable, Sendable, Codable {
  case null
  case boolean(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let truth = try? value.decode(Bool.self) {
      self = .boolean(truth)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let list = try? value.decode([JSON].self) {
      self = .array(list)
    } else {
      self = .object(try value.decode([String: JSON].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .boolean(let truth): try value.encode(truth)
    case .number(let number):
      if let whole = Int64(exactly: number) { try value.encode(whole) } else { try value.encode(number) }
    case .string(let text): try value.encode(text)
    case .array(let list): try value.encode(list)
    case .object(let members): try value.encode(members)
    }
  }

  init(_ data: Data) throws { self = try JSONDecoder().decode(JSON.self, from: data) }

  subscript(_ name: String) -> JSON? { members?[name] }

  var members: [String: JSON]? { if case .object(let members) = self { members } else { nil } }
  var list: [JSON]? { if case .array(let list) = self { list } else { nil } }
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var number: Int? { if case .number(let number) = self { Int(number) } else { nil } }
  var truth: Bool? { if case .boolean(let truth) = self { truth } else { nil } }

  /// Compact.
  var data: Data {
    get throws { try JSONEncoder().encode(self) }
  }
}
