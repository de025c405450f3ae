package import Foundation
import Synchronization

/// A program that failed, with what it said.
package struct TestProcessError: Error, CustomStringConvertible {
  /// The program and its output.
  package let description: String

  package init(description: String) {
    self.description = description
  }
}

/// A child process. Spawned here rather than with Foundation's `Process`, which lets a child inherit the pipes of
/// another one that is spawned at the same moment; such a pipe then never ends.
///
/// One that is dropped before its end was waited for, as by a test that fails, is killed and reaped. A child that nobody
/// reaps would keep whoever waits for any child, as the exit tests' monitor does, from ever seeing its own.
package final class ChildProcess: Sendable {
  package let id: pid_t
  private let isReaped = Mutex(false)

  /// - Parameters:
  ///   - input: becomes its standard input; without one it reads the end of input.
  ///   - output: becomes its standard output and error; without one they are dropped.
  ///   - environment: all of its environment; without one it has this process's.
  package init(_ command: [String], input: Int32? = nil, output: Int32? = nil, environment: [String: String]? = nil)
    throws
  {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input { posix_spawn_file_actions_adddup2(&actions, input, 0) }
    if input == nil { posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) }
    if let output { posix_spawn_file_actions_adddup2(&actions, output, 1) }
    if output == nil { posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) }
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Swift's pool threads block nearly every signal, and a shell without SIGCHLD waits for ever.
    var unblocked = sigset_t()
    sigemptyset(&unblocked)
    posix_spawnattr_setsigmask(&attributes, &unblocked)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    let variables = (environment ?? ProcessInfo.processInfo.environment).map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for variable in variables { free(variable) } }
    var id: pid_t = 0
    let code = posix_spawnp(&id, command[0], &actions, &attributes, arguments, variables)
    guard code == 0 else { throw TestProcessError(description: "\(command[0]): errno \(code)") }
    self.id = id
  }

  /// Waits for its end; 0 when it succeeded.
  package func wait() -> Int32 {
    let status = Self.reap(id)
    isReaped.withLock { $0 = true }
    return status
  }

  deinit {
    guard !isReaped.withLock({ $0 }) else { return }
    kill(id, SIGKILL)
    let id = id
    Thread.detachNewThread { _ = Self.reap(id) }
  }

  private static func reap(_ id: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    return status
  }
}

/// A pipe that no other child inherits.
package struct ClosedPipe {
  package let reading: Int32
  package let writing: Int32

  package init() throws {
    var ends: [Int32] = [0, 0]
    // `pipe2` is hidden from Swift, and `pipe` cannot close its ends on exec atomically; a socket pair can.
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
      throw TestProcessError(description: "socketpair: errno \(errno)")
    }
    (reading, writing) = (ends[0], ends[1])
  }
}

/// Runs a program to its end; what it printed.
@discardableResult
package func run(_ command: [String]) throws -> String {
  let pipe = try ClosedPipe()
  defer { close(pipe.reading) }
  let spawned = Result { try ChildProcess(command, output: pipe.writing) }
  close(pipe.writing)
  let child = try spawned.get()
  let text = String(decoding: readToEnd(pipe.reading), as: UTF8.self)
  guard child.wait() == 0 else { throw TestProcessError(description: "\(command[0]): \(text)") }
  return text
}

private func readToEnd(_ descriptor: Int32) -> [UInt8] {
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = read(descriptor, &buffer, buffer.count)
    if count > 0 { bytes += buffer[..<count] }
    if count == 0 || (count < 0 && errno != EINTR) { return bytes }
  }
}

package var isRoot: Bool { geteuid() == 0 }

/// PostgreSQL refuses to run as root; its own account where there is one.
package let account: String = getpwnam("postgres") == nil ? "nobody" : "postgres"

/// The command as the server's account.
package func asServer(_ command: [String]) -> [String] {
  guard isRoot, let entry = getpwnam(account)?.pointee else { return command }
  return ["setpriv", "--reuid=\(entry.pw_uid)", "--regid=\(entry.pw_gid)", "--clear-groups"] + command
}

/// A folder whose path is short enough for a Unix socket. It is removed with all that is in it when this process ends.
/// - Parameter isKept: whether somebody else removes it, as the shell does that stops a server.
package func makeTemporaryFolder(_ name: String, isKept: Bool = false) throws -> String {
  let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
  var template = Array("\(folder)/\(name)-XXXXXX".utf8CString)
  guard mkdtemp(&template) != nil else { throw TestProcessError(description: "mkdtemp: errno \(errno)") }
  let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  if !isKept { TemporaryFiles.removeAtExit(path) }
  return path
}

/// What the tests have written and nobody needs when they have ended.
package enum TemporaryFiles {
  private static let paths = Mutex<[String]>([])

  /// Removes a file, or a folder with all that is in it, when this process ends.
  package static func removeAtExit(_ path: String) {
    let isFirst = paths.withLock { paths in
      paths.append(path)
      return paths.count == 1
    }
    if isFirst {
      atexit { for path in TemporaryFiles.paths.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) } }
    }
  }
}

/// A port on 127.0.0.1 that belongs to this process until it ends, however often servers on it come and go. A socket holds it that
/// never listens: the kernel gives such a port to nobody who asks for any, nor to an outgoing connection, and lets a server listen on
/// it that sets SO_REUSEADDR, as servers do.
package func reservedPort() throws -> UInt16 {
  let holder = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  var (isReused, address, length) = (Int32(1), sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
  setsockopt(holder, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
  let isBound = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(holder, $0, length) == 0 && getsockname(holder, $0, &length) == 0
    }
  }
  guard isBound else { throw TestProcessError(description: "no port: errno \(errno)") }
  return UInt16(bigEndian: address.sin_port)
}

/// Runs work that blocks on a thread of its own: the pool's few threads must not wait for a server.
package func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
  }
}
