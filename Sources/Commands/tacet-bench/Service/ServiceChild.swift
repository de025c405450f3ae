import Glibc
import Reactors

/// A running `tacet serve`, which is ended with this process in any case.
final class ServiceChild {
  /// How long it may take to end after SIGTERM; the service itself finishes what it has begun for half a minute at most.
  private static let stopLimit = Duration.seconds(35)

  let id: pid_t
  /// When it was started, in monotonic nanoseconds.
  let started: UInt64
  private let guardian: ChildGuard
  private var exitStatus: Int32?

  /// - Parameters:
  ///   - settings: its whole environment, beside `PATH`.
  ///   - log: the file that gets its output.
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

  /// Whether it still runs.
  var isRunning: Bool {
    if exitStatus != nil { return false }
    var status: Int32 = 0
    guard waitpid(id, &status, WNOHANG) == id else { return true }
    exitStatus = status
    guardian.dismiss()
    return false
  }

  /// Asks it to end, waits, and kills it when it does not.
  /// - Throws: when it had to be killed, or ended with another status than success.
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
