import Foundation
import Synchronization
import TestProcesses

/// Stands between a client and a server on 127.0.0.1, and can fall silent as a firewall does that has forgotten a
/// connection: both ends stay open, and nothing passes.
package final class StallingProxy: Sendable {
  /// Where to connect to instead of the server.
  package let port: UInt16

  private let listening: Int32
  private let upstream: UInt16
  private let connections = Mutex<[ProxiedConnection]>([])

  /// Begins to accept connections for a server's port.
  package init(to upstream: UInt16) throws {
    self.upstream = upstream
    port = try reservedPort()
    listening = try makeSocket { bind($0, $1, $2) }(port)
    guard listen(listening, 16) == 0 else { throw TestProcessError(description: "listen: errno \(errno)") }
    let (descriptor, weakSelf) = (listening, WeakProxy(self))
    Thread.detachNewThread {
      while case let client = accept(descriptor, nil, nil), client >= 0 { weakSelf.proxy?.begin(client) }
    }
  }

  deinit {
    shutdown(listening, Int32(SHUT_RDWR))
    close(listening)
    for connection in connections.withLock({ $0 }) { connection.end() }
  }

  /// From now on nothing passes on the connections there are; new ones are as good as ever.
  package func stall() {
    for connection in connections.withLock({ $0 }) { connection.stall() }
  }

  private func begin(_ client: Int32) {
    guard let server = try? makeSocket({ connect($0, $1, $2) })(upstream) else {
      close(client)
      return
    }
    let connection = ProxiedConnection(client: client, server: server)
    connections.withLock { $0.append(connection) }
    Thread.detachNewThread { connection.pass(from: client, to: server) }
    Thread.detachNewThread { connection.pass(from: server, to: client) }
  }
}

/// The accepting thread must not keep the proxy alive.
private struct WeakProxy: Sendable {
  weak let proxy: StallingProxy?

  init(_ proxy: StallingProxy) { self.proxy = proxy }
}

/// Two sockets, and whether what one of them says reaches the other.
private final class ProxiedConnection: Sendable {
  private struct State {
    var isStalled = false
    var directionsOpen = 2
  }

  private let client: Int32
  private let server: Int32
  private let state = Mutex(State())

  init(client: Int32, server: Int32) {
    self.client = client
    self.server = server
  }

  func stall() { state.withLock { $0.isStalled = true } }

  /// Does nothing once the descriptors are closed: by then their numbers may be somebody else's.
  func end() {
    state.withLock { state in
      guard state.directionsOpen > 0 else { return }
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
    }
  }

  /// Until one end is closed. The descriptors are closed when nobody reads them any more.
  func pass(from source: Int32, to destination: Int32) {
    var buffer = [UInt8](repeating: 0, count: 16384)
    while case let count = read(source, &buffer, buffer.count), count > 0 {
      if !state.withLock({ $0.isStalled }) { _ = send(destination, buffer, count, Int32(MSG_NOSIGNAL)) }
    }
    end()
    state.withLock { state in
      state.directionsOpen -= 1
      guard state.directionsOpen == 0 else { return }
      close(client)
      close(server)
    }
  }
}

/// A socket that was given a loopback port in one way or the other.
private func makeSocket(
  _ use: @escaping (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> (_ port: UInt16) throws -> Int32 {
  { port in
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    // What holds the port is bound to it too.
    var isReused: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    let outcome = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard outcome == 0 else {
      close(descriptor)
      throw TestProcessError(description: "port \(port): errno \(errno)")
    }
    return descriptor
  }
}
