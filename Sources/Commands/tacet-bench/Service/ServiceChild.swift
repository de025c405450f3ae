import Glibc
import Reactors

/// A running `tacet serve`. It always ends with this process.
final class ServiceChild {
  /// The time to end after SIGTERM. The service itself drains for at most half a minute.
  private static let stopLimit = Duration.seconds(35)

  let id: pid_t
  /// When it was started, in monotonic nanoseconds.
  let started: UInt64
  private let guardian: ChildGuard
  private var exitStatus: Int32?

  /// - Parameters:
  ///   - settings: its whole environment except `PATH`.
  ///   - log: the file for its output.
  init(_ program: String, settings: [String: String], log: String) throws(SystemError) {
    let environment = settings.map { "\($0.key)=\($0.value)" } + ["PATH=/usr/bin:/bin"]
    guardian = try ChildGuard()
    started = Reactor.now
    do throws(SystemError) {
      id = try guardian.start([program, "serve"], environment: environment, log: log)
    } catch {
      guardian.dismiss()
      throw error
    }
  }

  var isRunning: Bool {
    if exitStatus != nil { return false }
    var status: Int32 = 0
    guard waitpid(id, &status, WNOHANG) == id else { return true }
    exitStatus = status
    guardian.dismiss()
    return false
  }

  /// Sends SIGTERM, waits, and kills the process after the limit.
  /// - Throws: when it was killed, or ended with a failure.
  func stop(on reactor: isolated Reactor) async throws(BenchError) {
    if isRunning { kill(id, SIGTERM) }
    if !(await hasEnded(within: Self.stopLimit, on: reactor)) {
      kill(id, SIGKILL)
      _ = await hasEnded(within: Self.stopLimit, on: reactor)
      throw BenchError("the service did not end after SIGTERM, and was killed")
    }
    guard exitStatus == 0 else { throw BenchError("the service ended with the wait status \(exitStatus ?? -1)") }
  }

  private func hasEnded(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let deadline = Reactor.now + limit.clampedNanoseconds
    while isRunning {
      guard Reactor.now < deadline else { return false }
      await reactor.sleep(for: .milliseconds(5))
    }
    return true
  }
}

/// Ends a child when this process is gone, for any reason: a small shell waits for the end of a pipe that only this
/// process holds. Without it a killed measurement would leave a service that works on the next one's database.
///
/// The child itself writes its process id before it executes the program. If this process wrote it, a kill between
/// start and write would leave the child unguarded.
final class ChildGuard {
  private static let script = """
    trap '' INT TERM HUP
    read -r child || exit
    read -r word && exit
    kill -TERM "$child"
    for try in 1 2 3 4 5 6 7 8 9 10; do sleep 0.5; kill -0 "$child" || exit; done
    kill -KILL "$child"
    """

  /// The pipe is descriptor 3. The program does not inherit it.
  private static let announcement = #"echo $$ >&3; exec 3>&-; exec "$@""#

  private let shell: pid_t
  private let pipe: Int32

  /// Starts the guard, before there is a child.
  init() throws(SystemError) {
    var ends: [Int32] = [0, 0]
    // A socket pair has close-on-exec from the start. `pipe2` is not visible to Swift.
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemError(operation: "socketpair", code: errno) }
    defer { close(ends[0]) }
    do throws(SystemError) {
      shell = try ChildSpawn.start(
        ["/bin/sh", "-c", Self.script], environment: ["PATH=/usr/bin:/bin"], input: ends[0])
    } catch {
      close(ends[1])
      throw error
    }
    pipe = ends[1]
  }

  /// Starts the child, with the parameters of ``ChildSpawn/start(_:environment:input:third:log:)``. A missing program
  /// ends it with the status 127.
  func start(_ command: [String], environment: [String], log: String) throws(SystemError) -> pid_t {
    try ChildSpawn.start(
      ["/bin/sh", "-c", Self.announcement, "sh"] + command, environment: environment, third: pipe, log: log)
  }

  /// Ends the guard without a kill: the child has ended, and its process id may be reused.
  func dismiss() {
    _ = write(pipe, "0\n0\n", 4)
    close(pipe)
    var status: Int32 = 0
    while waitpid(shell, &status, 0) < 0, errno == EINTR {}
  }
}

enum ChildSpawn {
  /// - Parameters:
  ///   - command: the program and its arguments. A program without a slash is searched in `PATH`.
  ///   - environment: its whole environment, as `NAME=VALUE`.
  ///   - input: its standard input; nil for `/dev/null`.
  ///   - third: its descriptor 3.
  ///   - log: the file to append its output to; nil to drop it.
  static func start(
    _ command: [String], environment: [String], input: Int32? = nil, third: Int32? = nil, log: String? = nil
  ) throws(SystemError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    if let third { posix_spawn_file_actions_adddup2(&actions, third, 3) }
    posix_spawn_file_actions_addopen(&actions, 1, log ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    return try spawn(command, environment, actions)
  }

  /// Unblocks all signals, because this process's threads may block nearly all of them.
  private static func spawn(
    _ command: [String], _ environment: [String], _ actions: posix_spawn_file_actions_t
  ) throws(SystemError) -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var unblocked = sigset_t()
    sigemptyset(&unblocked)
    posix_spawnattr_setsigmask(&attributes, &unblocked)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let arguments = command.map { strdup($0) } + [nil]
    let variables = environment.map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var id: pid_t = 0
    var actions = actions
    let code = posix_spawnp(&id, command[0], &actions, &attributes, arguments, variables)
    guard code == 0 else { throw SystemError(operation: "start of \(command[0])", code: code) }
    return id
  }
}
