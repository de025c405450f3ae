import Glibc
import Reactors

/// Ends a child when this process is gone, whatever has ended it: a small shell that waits for the end of a pipe which
/// nobody else has. Without it a killed measurement would leave a service behind that works on the database of the next.
final class ChildGuard {
  private static let script = """
    trap '' INT TERM HUP
    read -r word && exit
    kill -TERM "$1"
    for try in 1 2 3 4 5 6 7 8 9 10; do sleep 0.5; kill -0 "$1" || exit; done
    kill -KILL "$1"
    """

  private let shell: pid_t
  private let pipe: Int32

  init(of child: pid_t) throws(SystemError) {
    var ends: [Int32] = [0, 0]
    // A socket pair can be closed in other children from its making on; `pipe2` is hidden from Swift.
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SystemError(operation: "socketpair", code: errno) }
    defer { close(ends[0]) }
    do throws(SystemError) {
      shell = try ChildSpawn.start(
        ["/bin/sh", "-c", Self.script, "guard", String(child)], environment: ["PATH=/usr/bin:/bin"], input: ends[0])
    } catch {
      close(ends[1])
      throw error
    }
    pipe = ends[1]
  }

  /// The child has ended, and its number may be another process's soon.
  func dismiss() {
    _ = write(pipe, "\n", 1)
    close(pipe)
    var status: Int32 = 0
    while waitpid(shell, &status, 0) < 0, errno == EINTR {}
  }
}
