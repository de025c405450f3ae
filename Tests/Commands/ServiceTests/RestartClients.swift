import Foundation
import Synchronization

/// Clients of one port that ask without a pause and count what fails, each on a thread of its own.
///
/// Some open a connection for each request, the others keep theirs until the server says or does otherwise; they look
/// whether a kept one was closed before they write, as every client does.
final class RestartClients: Sendable {
  struct Books {
    var answers = 0
    var failures: [String] = []
  }

  private struct State {
    var books = Books()
    var running = 0
    var mustStop = false
    var stopped: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())
  private let port: UInt16

  /// Begins to ask.
  init(port: UInt16, opening: Int, keeping: Int) {
    self.port = port
    state.withLock { $0.running = opening + keeping }
    for number in 0..<opening + keeping {
      Thread.detachNewThread { [self] in run(keeps: number >= opening) }
    }
  }

  /// Lets every client finish its request; what happened.
  func stop() async -> Books {
    await withCheckedContinuation { continuation in
      let isStopped = state.withLock { state in
        state.mustStop = true
        state.stopped = continuation
        return state.running == 0
      }
      if isStopped { continuation.resume() }
    }
    return state.withLock { $0.books }
  }

  private func run(keeps: Bool) {
    var connection: BlockingConnection?
    while !state.withLock({ $0.mustStop }) {
      do {
        if connection?.isUsable != true { connection = try BlockingConnection(port: port) }
        let answer = try connection?.ask("/healthz", keeps: keeps) ?? ""
        guard answer.hasPrefix("HTTP/1.1 200 ") else { throw BlockingConnection.Failure(what: answer) }
        if !keeps || answer.contains("Connection: close") { connection = nil }
        state.withLock { $0.books.answers += 1 }
      } catch {
        connection = nil
        state.withLock { $0.books.failures.append("\(error)") }
      }
    }
    let waiting = state.withLock { state in
      state.running -= 1
      return state.running == 0 ? state.stopped : nil
    }
    waiting?.resume()
  }
}

/// A connection to the loopback address that blocks its thread, for half a minute at the most.
final class BlockingConnection {
  struct Failure: Error { let what: String }

  private let descriptor: Int32

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    let code = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else { throw Failure(what: "connect: errno \(errno)") }
  }

  deinit { close(descriptor) }

  /// Whether it was not closed meanwhile: between two answers there is nothing to read but the end.
  var isUsable: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) < 0 && errno == EAGAIN
  }

  /// Sends a request; the whole answer.
  func ask(_ path: String, keeps: Bool) throws -> String {
    let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(keeps ? "" : "Connection: close\r\n")\r\n".utf8)
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw Failure(what: "send: errno \(errno)")
    }
    var answer = ""
    while !Self.isWhole(answer) { answer += try readSome() }
    return answer
  }

  private func readSome() throws -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { throw Failure(what: count == 0 ? "closed without a whole answer" : "recv: errno \(errno)") }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }

  /// Every answer of the service says its length.
  private static func isWhole(_ answer: String) -> Bool {
    guard let head = answer.range(of: "\r\n\r\n"), let field = answer.range(of: "Content-Length: ") else {
      return false
    }
    let length = Int(answer[field.upperBound...].prefix { $0.isASCII && $0.isNumber }) ?? 0
    return answer[head.upperBound...].utf8.count >= length
  }
}
