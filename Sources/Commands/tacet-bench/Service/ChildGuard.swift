import Glibc
import Reactors

/// Ends a child when this process is gone, whatever has ended it: a small shell that waits for the end of a pipe which
/// nobody else has. Without it a killed measurement would leave a service behind that works on the database of the next.
///
/// The child tells its number itself, before it becomes the program that it is started for: told by this process, it would
/// be unguarded if this process was killed between the start and the telling.
final class ChildGuard {
  private static let script = """
    trap '' INT TERM HUP
    read -r child || exit
    read -r word && exit
    kill -TERM "$child"
    for try in 1 2 3 4 5 6 7 8 9 10; do sleep 0.5; kill -0 "$child" || exit; done
    kill -KILL "$child"
    """

  /// The pipe is its descriptor 3, which the program does not get.
  private static let announcement = #"echo $$ >&3; exec 3>&-; exec "$@""#

  private let shell: pid_t
  private let pipe: Int32

  /// Starts the guard, before there is a child.
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

  /// Starts the child; parameters as of ``ChildSpawn/start(_:environment:input:third:log:)``. A program that is not
  /// there ends it with the status 127.
  func start(_ command: [String], environment: [String], log: String) throws(SystemError) -> pid_t {
    try ChildSpawn.start(
      ["/bin/sh", "-c", Self.announcement, "sh"] + command, environment: environment, third: pipe, log: log)
  }

  /// The child has ended, and its number may be another process's soon; or there is none.
  func dismiss() {
    _ = write(pipe, "0\n0\n", 4)
    close(pipe)
    var status: Int32 = 0
    while waitpid(shell, &status, 0) < 0, errno == EINTR {}
  }
}
