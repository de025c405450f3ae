import Foundation
import Synchronization
import TestProcesses

extension TestPostgres {
  /// Starts the server and waits until it takes connections.
  package func start() async throws {
    try await onOwnThread { try self.startServer() }
  }

  /// Stops the server and waits until it is gone. The folder stays for the next start.
  package func stop(_ mode: ShutdownMode = .fast) async throws {
    endIdleSessions()
    try await onOwnThread { self.stopServer(mode) }
  }

  /// Stops and starts.
  package func restart(_ mode: ShutdownMode = .fast) async throws {
    try await stop(mode)
    try await start()
  }

  /// Kills the whole server at once, as a power cut would.
  package func kill() async throws {
    try await onOwnThread {
      self.stopForking()
      for process in self.serverProcesses() { Foundation.kill(process, SIGKILL) }
      self.stopServer(.immediate)
    }
  }

  /// A child forked between the look and the kill would outlive the postmaster for a moment, and with its shared memory
  /// keep the next start from succeeding.
  private func stopForking() {
    guard let postmaster = postmaster() else { return }
    Foundation.kill(postmaster, SIGSTOP)
    for _ in 0..<startPollsMax {
      // The state is the first letter after the name's closing bracket; nothing signals the stop to a stranger.
      let stat = (try? String(contentsOfFile: "/proc/\(postmaster)/stat", encoding: .utf8)) ?? ""
      let state = stat.lastIndex(of: ")").map { stat[$0...].dropFirst(2).prefix(1) }
      guard let state, state != "T" else { return }
      usleep(pollMicroseconds)
    }
  }

  func startServer() throws {
    // A server that was killed has left its lock file, which says `ready` as well.
    let left = lockFile
    let command = asServer([Self.binaries + "/postgres", "-D", folder + "/data", "-p", "\(port)"] + options)
    let started = try Watchdog(command, folder: folder)
    watchdog.withLock { $0 = started }
    try awaitReady(differentFrom: left)
  }

  private func stopServer(_ mode: ShutdownMode) {
    signal(mode.rawValue)
    let stopped = watchdog.withLock { watchdog in
      defer { watchdog = nil }
      return watchdog
    }
    stopped?.leaveFolder()
  }

  /// Stops every server process where it stands, so that connections stay open and nothing answers.
  package func freeze() {
    for process in serverProcesses() { Foundation.kill(process, SIGSTOP) }
  }

  /// Lets frozen processes go on.
  package func thaw() {
    for process in serverProcesses() { Foundation.kill(process, SIGCONT) }
  }

  private func signal(_ number: Int32) {
    guard let process = postmaster() else { return }
    Foundation.kill(process, number)
  }

  private func postmaster() -> pid_t? {
    lockFile.split(separator: "\n").first.flatMap { pid_t($0) }
  }

  /// Empty while there is none.
  private var lockFile: String {
    (try? String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)) ?? ""
  }

  /// The postmaster and its children, the postmaster first so that it cannot replace a child.
  private func serverProcesses() -> [pid_t] {
    guard let postmaster = postmaster() else { return [] }
    let path = "/proc/\(postmaster)/task/\(postmaster)/children"
    let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return [postmaster] + children.split(separator: " ").compactMap { pid_t($0) }
  }

  /// The postmaster writes `ready` into its lock file; there is nothing to wait on but the file.
  private func awaitReady(differentFrom left: String) throws {
    for _ in 0..<startPollsMax {
      let text = lockFile
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      if text != left, lines.count > 7, lines[7].hasPrefix("ready") { return }
      usleep(pollMicroseconds)
    }
    let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
    throw TestProcessError(description: "the server did not start:\n\(log)")
  }
}

private let pollMicroseconds: UInt32 = 5000

/// Half a minute: a recovery on a busy machine takes seconds.
private let startPollsMax = 6000
