import Foundation
import Synchronization
import TacetClient

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
