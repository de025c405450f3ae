import Glibc
import Reactors

/// Ends a child when this process is gone, whatever has ended it: a small shell that waits for the end of a pipe which
/// nobody else has. Without it a killed measurement would leave a service behind that works on the database of the next.
final class ChildGuard {
  private static let script = """
    trap '' INT TERM HUP
    read -r child || exit
    read -r word && exit
    kill -TERM "$child"
    for try in 1 2 3 4 5 6 7 8 9 10; do sleep 0.5; kill -0 "$child" || exit; done
    kill -KILL "$child"
    """

  private let shell: pid_t
  private let pipe: Int32

  /// Starts the guard, before there is a child, so that no moment is unguarded.
  init() throws(SystemError) {
    var ends: [Int32] = [0, 0]
    // A socket pair can be closed in other children from its making on; `pipe2` is hidden from Swift.
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

  /// Guards a child from now on.
  func watch(_ child: pid_t) {
    let line = "\(child)\n"
    _ = write(pipe, line, line.utf8.count)
  }

  /// The child has ended, and its number may be another process's soon; or there is none.
  func dismiss() {
    _ = write(pipe, "0\n0\n", 4)
    close(pipe)
    var status: Int32 = 0
    while waitpid(shell, &status, 0) < 0, errno == EINTR {}
  }
}
