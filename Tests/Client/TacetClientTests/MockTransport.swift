import Foundation
import Synchronization

@testable import TacetClient

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers from a script, and notes what was asked. When the script is at its end, everything is answered with 204.
final class MockTransport: ClientTransport {
  /// What becomes of one request.
  enum Answer {
    case status(Int, fields: [String: String] = [:], content: String = "")
    case nothing
  }

  /// What was asked.
  struct Asked: Equatable {
    let line: String
    let authorization: String?
    /// The entity tag that the client has.
    let tag: String?
    let content: String?

    var json: JSON { get throws { try JSON(Data((content ?? "").utf8)) } }
  }

  private let script: Mutex<[Answer]>
  private let books = Mutex<[Asked]>([])
  private let changed: AsyncStream<Void>
  private let change: AsyncStream<Void>.Continuation

  init(_ script: [Answer] = []) {
    self.script = Mutex(script)
    (changed, change) = AsyncStream.makeStream()
  }

  var asked: [Asked] { books.withLock { $0 } }

  var lines: [String] { asked.map(\.line) }

  /// Waits until so many requests came.
  func wait(for count: Int) async {
    if asked.count >= count { return }
    for await _ in changed where asked.count >= count { return }
  }

  func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    guard let url = request.url else { throw URLError(.badURL) }
    let asked = Asked(
      line: "\(request.httpMethod ?? "") \(url.path)\(url.query.map { "?\($0)" } ?? "")",
      authorization: request.value(forHTTPHeaderField: "Authorization"),
      tag: request.value(forHTTPHeaderField: "If-None-Match"),
      content: request.httpBody.map { String(decoding: $0, as: UTF8.self) })
    books.withLock { $0.append(asked) }
    change.yield()
    let next = script.withLock { $0.isEmpty ? .status(204) : $0.removeFirst() }
    guard case .status(let status, let fields, let content) = next,
      let answer = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    else { throw URLError(.networkConnectionLost) }
    return (Data(content.utf8), answer)
  }
}

extension PushServiceClient {
  /// A client that pauses as the test says, or not at all.
  init(_ transport: any ClientTransport, origin: String = "https://push.example.com", sleeps: ManualSleep? = nil) {
    self.init(
      origin: URL(string: origin)!, transport: transport, token: { "t" }, sleep: { try await sleeps?.sleep($0) })
  }
}

/// Sleeps that end when the test says so.
final class ManualSleep: Sendable {
  private struct State {
    var asked: [Duration] = []
    var sleepers: [Int: CheckedContinuation<Void, any Error>] = [:]
    var isOpen = false
  }

  private let state = Mutex(State())

  var asked: [Duration] { state.withLock { $0.asked } }

  /// Every sleep ends at once from now on.
  func open() { state.withLock { $0.isOpen = true } }

  func sleep(_ duration: Duration) async throws {
    let number = state.withLock { state in
      state.asked.append(duration)
      return state.asked.count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isOver = state.withLock { state in
          // Read once: a task that is cancelled between two looks would be resumed here and by its handler.
          let isOver = state.isOpen || Task.isCancelled
          if !isOver { state.sleepers[number] = continuation }
          return isOver
        }
        if isOver { resume(continuation) }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: number) }?.resume(throwing: CancellationError())
    }
  }

  /// Ends the sleeps that go on.
  func wake() {
    let sleepers = state.withLock { state in
      defer { state.sleepers = [:] }
      return Array(state.sleepers.values)
    }
    for sleeper in sleepers { sleeper.resume() }
  }

  private func resume(_ continuation: CheckedContinuation<Void, any Error>) {
    if Task.isCancelled { continuation.resume(throwing: CancellationError()) } else { continuation.resume() }
  }
}

/// A device whose clock, zone, permission and pending notifications a test sets.
final class ManualDevice: LocalScheduler {
  private struct State {
    var now: Date
    var zone = TimeZone.gmt
    var sleepers: [Int: (due: Date, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var sleeperCount = 0
    var permission = DeviceRegistration.Authorization.authorized
    var pending: [String] = []
    var armed: [LocalNotification] = []
    var cancelled: [String] = []
    var armsLeft = Int.max
    var armingError = ArmingError.denied
    var whenCancelled: (@Sendable () async -> Void)?
  }

  private let state: Mutex<State>
  private let slept: AsyncStream<Void>
  private let sleeping: AsyncStream<Void>.Continuation

  init(at now: Date) {
    state = Mutex(State(now: now))
    (slept, sleeping) = AsyncStream.makeStream()
  }

  /// The clock for a ``ScheduleKeeper``.
  var clock: DeviceClock {
    DeviceClock(now: { self.now }, zone: { self.zone }, sleep: { try await self.sleep($0) })
  }

  var now: Date {
    get { state.withLock { $0.now } }
    set { state.withLock { $0.now = newValue } }
  }

  var zone: TimeZone {
    get { state.withLock { $0.zone } }
    set { state.withLock { $0.zone = newValue } }
  }

  var permission: DeviceRegistration.Authorization {
    get { state.withLock { $0.permission } }
    set { state.withLock { $0.permission = newValue } }
  }

  /// The identifiers that the system holds.
  var held: [String] {
    get { state.withLock { $0.pending } }
    set { state.withLock { $0.pending = newValue } }
  }

  /// The system takes so many more notifications, then fails.
  func take(_ count: Int, then error: ArmingError) {
    state.withLock { ($0.armsLeft, $0.armingError) = (count, error) }
  }

  /// What was armed and cancelled since the last call, in order.
  func changes() -> (armed: [LocalNotification], cancelled: [String]) {
    state.withLock { state in
      defer { (state.armed, state.cancelled) = ([], []) }
      return (state.armed, state.cancelled)
    }
  }

  func authorization() async -> DeviceRegistration.Authorization { permission }

  func pending() async -> [String] { held }

  func arm(_ notification: LocalNotification) async throws(ArmingError) {
    let error: ArmingError? = state.withLock {
      guard $0.armsLeft > 0 else { return $0.armingError }
      $0.armsLeft -= 1
      $0.armed.append(notification)
      $0.pending.removeAll { $0 == notification.identifier }
      $0.pending.append(notification.identifier)
      return nil
    }
    if let error { throw error }
  }

  func cancel(_ identifiers: [String]) async {
    let action = state.withLock {
      $0.cancelled += identifiers
      $0.pending.removeAll(where: identifiers.contains)
      return $0.whenCancelled
    }
    await action?()
  }

  /// Calls something while the system cancels.
  func whenCancelled(_ action: @escaping @Sendable () async -> Void) { state.withLock { $0.whenCancelled = action } }

  /// Waits until somebody sleeps.
  func waitForSleeper() async { for await _ in slept { return } }

  /// Ends the sleeps whose time has come; their number.
  func wakeDue() -> Int {
    let due = state.withLock { state in
      let due = state.sleepers.filter { $0.value.due <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in due { continuation.resume() }
    return due.count
  }

  private func sleep(_ duration: Duration) async throws {
    let number = state.withLock {
      $0.sleeperCount += 1
      return $0.sleeperCount
    }
    let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isOver = state.withLock {
          if !Task.isCancelled { $0.sleepers[number] = ($0.now.addingTimeInterval(seconds), continuation) }
          return Task.isCancelled
        }
        if isOver { continuation.resume(throwing: CancellationError()) }
        sleeping.yield()
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(throwing: CancellationError())
    }
  }
}
