import Foundation
import Simulators
import Synchronization
import TestProcesses
import Testing

@Suite("Stops and restarts", .serialized)
struct RestartTests {
  @Test("two processes on one port, restarted in turns each second for ten seconds, fail nobody")
  func restarts() async throws {
    let port = try reservedPort()
    let scene = try await ServiceScene(extra: ["LISTEN_ADDRESS": "127.0.0.1:\(port)", "REACTORS": "2"])
    var services = [try await scene.startService(), try await scene.startService()]
    let clients = RestartClients(port: port, opening: 4, keeping: 4)
    let start = ContinuousClock.now
    for turn in 0..<10 {
      // The pace of the restarts; nothing is waited for here.
      try await ContinuousClock().sleep(until: start + .seconds(turn))
      try await services[turn % 2].stop()
      services[turn % 2] = try await scene.startService()
    }
    await clients.answered(1_000)
    let books = await clients.stop()
    #expect(books.failures == [])
    #expect(books.answers >= 1_000)
    for service in services { try await service.stop() }
    await scene.simulator.stop()
  }

  @Test("a stop answers the webhook that waits for its outcome, and readiness says from its beginning that it stops")
  func waitingWebhook() async throws {
    let port = try reservedPort()
    let extra = ["LISTEN_ADDRESS": "127.0.0.1:\(port)", "REACTORS": "1"]
    try await ServiceScene.play(extra: extra) { scene, service in
      let conversation = try await Conversation(scene, [.away()])
      scene.register(conversation.tokens[0][0], delayMilliseconds: 4_000)
      let message = try await conversation.say()
      _ = try await scene.pushes(of: message, atLeast: 1)
      let webhook = try BlockingConnection(port: port)
      try webhook.sendWebhook(#"{"message_id":"\#(message)"}"#)
      // The only reactor takes connections and requests in their order: when these are answered, the webhook waits. After the
      // signal no connection is taken, and one without a request is closed before long.
      let connections = try (0..<4).map { _ in try BlockingConnection(port: port) }
      for connection in connections {
        #expect(try connection.ask("/readyz", keeps: true).hasPrefix("HTTP/1.1 200 "))
      }
      async let last = Self.lastReadiness(connections)
      try await service.process.signal(SIGTERM)
      #expect(try await last.hasPrefix("HTTP/1.1 503 "))
      #expect(try await last.contains("it is stopping"))
      let answer = try await onOwnThread { try webhook.answer() }
      #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains(#""sent":true"#), "\(answer)")
    }
  }

  /// Asks for readiness without a pause until an answer is the last of its connection. On a busy machine one of the clients can
  /// pause for so long that its connection is closed.
  private static func lastReadiness(_ connections: [BlockingConnection]) async throws -> String {
    try await withThrowingTaskGroup(of: String?.self) { group in
      for connection in connections {
        group.addTask {
          try? await onOwnThread {
            while true {
              let answer = try connection.ask("/readyz", keeps: true)
              if answer.contains("Connection: close") { return answer }
            }
          }
        }
      }
      let answers = try await group.reduce(into: []) { $0.append($1) }.compactMap(\.self)
      return try #require(answers.first, "every connection was closed without a last answer")
    }
  }
}

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

  /// Waits until so many requests are answered, or one has failed; for a minute at the most.
  func answered(_ count: Int) async {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline, state.withLock({ $0.books.answers < count && $0.books.failures.isEmpty }) {
      try? await Task.sleep(for: .milliseconds(20))
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
final class BlockingConnection: Sendable {
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
    try send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(keeps ? "" : "Connection: close\r\n")\r\n")
    return try answer()
  }

  /// Sends an authentic webhook, whose answer is read later.
  func sendWebhook(_ body: String) throws {
    try send(
      """
      POST /v1/webhooks/messages HTTP/1.1\r
      Host: localhost\r
      Content-Type: application/json\r
      Content-Length: \(body.utf8.count)\r
      Authorization: Bearer \(ServiceScene.secret)\r
      \r
      \(body)
      """)
  }

  private func send(_ text: String) throws {
    let request = Array(text.utf8)
    guard Foundation.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw Failure(what: "send: errno \(errno)")
    }
  }

  /// The next answer, whole.
  func answer() throws -> String {
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

@Suite("Under a supervisor", .serialized)
struct UnderSupervisorTests {
  /// Standard input becomes the descriptor that systemd passes first; `exec` keeps the process id that it is for.
  private static let passSocket = """
    exec 3<&0 </dev/null; export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@"
    """

  @Test("a socket that the supervisor keeps open loses no connection while the only process restarts")
  func keptSocket() async throws {
    let socket = try KeptSocket()
    let scene = try await ServiceScene(extra: ["REACTORS": "2"])
    var service = try Self.start(scene, on: socket)
    let clients = RestartClients(port: socket.port, opening: 4, keeping: 4)
    for _ in 0..<4 {
      try await Self.answers(socket.port)
      try await Self.stop(service)
      service = try Self.start(scene, on: socket)
    }
    await clients.answered(100)
    let books = await clients.stop()
    #expect(books.failures == [])
    #expect(books.answers >= 100)
    // By default the signal ends a process that has only begun.
    try await Self.answers(socket.port)
    try await Self.stop(service)
    await scene.simulator.stop()
  }

  @Test("the supervisor hears of the start, of beats, of a reload and of the stop, in this order")
  func told() async throws {
    let inbox = try NotifySocket(isAbstract: true)
    // A beat each second: of what nobody reads the kernel keeps ten messages (net.unix.max_dgram_qlen), and more are lost.
    let watchdog = ["NOTIFY_SOCKET": inbox.name, "WATCHDOG_USEC": "2000000"]
    try await ServiceScene.play(extra: watchdog) { _, service in
      #expect(Self.heard(inbox, until: "READY=1"))
      #expect(Self.heard(inbox, until: "WATCHDOG=1"))
      #expect(Self.heard(inbox, until: "WATCHDOG=1"))
      try await service.process.signal(SIGHUP)
      #expect(Self.heard(inbox, until: "RELOADING=1"))
      #expect(Self.heard(inbox, until: "READY=1"))
      try await service.process.signal(SIGTERM)
      #expect(Self.heard(inbox, until: "STOPPING=1"))
    }
  }

  /// Reads messages up to one that begins like this; beats may come between.
  private static func heard(_ inbox: NotifySocket, until beginning: String) -> Bool {
    while let message = inbox.next() {
      if message.hasPrefix(beginning) { return true }
      guard message == "WATCHDOG=1" else { return false }
    }
    return false
  }

  /// Waits until the process accepts.
  private static func answers(_ port: UInt16) async throws {
    let answer = try await onOwnThread { try BlockingConnection(port: port).ask("/healthz", keeps: false) }
    #expect(answer.hasPrefix("HTTP/1.1 200 "))
  }

  private static func stop(_ service: ChildProcess) async throws {
    kill(service.id, SIGTERM)
    let status = try await onOwnThread { service.wait() }
    #expect(status == 0)
  }

  private static func start(_ scene: ServiceScene, on socket: KeptSocket) throws -> ChildProcess {
    try ChildProcess(
      ["/bin/sh", "-c", passSocket, "sh", builtProgram("tacet"), "serve"], input: socket.descriptor,
      environment: scene.settings.merging(["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]) { mine, _ in mine
      })
  }
}

/// A listening socket that outlives the processes that accept from it.
private final class KeptSocket: Sendable {
  let descriptor: Int32
  let port: UInt16

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 4096) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    guard isListening else { throw TestProcessError(description: "listen: errno \(errno)") }
  }

  deinit { close(descriptor) }
}
