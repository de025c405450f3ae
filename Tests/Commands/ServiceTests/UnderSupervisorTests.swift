import Foundation
import Simulators
import TestProcesses
import Testing

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
    let books = await clients.stop()
    #expect(books.failures == [])
    #expect(books.answers > 100)
    try await Self.stop(service)
    await scene.simulator.stop()
  }

  @Test("the supervisor hears of the start, of beats, of a reload and of the stop, in this order")
  func told() async throws {
    let inbox = try NotifySocket(isAbstract: true)
    let watchdog = ["NOTIFY_SOCKET": inbox.name, "WATCHDOG_USEC": "200000"]
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
