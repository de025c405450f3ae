import Foundation
import TestProcesses

/// One of several `tacet serve` on a database: a place that one process after the other takes.
actor Replica {
  private let settings: [String: String]
  private var process: ServiceProcess?
  private var isAlive = false
  /// What the processes before this one printed.
  private var past: [String] = []

  init(_ settings: [String: String]) {
    self.settings = settings
  }

  /// Returns when it serves; whether it has a database and APNs by then is its own affair.
  func start() async throws {
    let process = try ServiceProcess(["serve"], settings: settings)
    self.process = process
    _ = try await process.line(containing: "serving")
    isAlive = true
  }

  /// - Returns: false when there was nobody to signal.
  func signal(_ number: Int32) async throws -> Bool {
    guard isAlive, let process else { return false }
    try await process.signal(number)
    return true
  }

  /// - Returns: false when there was nobody to kill.
  func kill() async throws -> Bool {
    guard try await signal(SIGKILL), let process else { return false }
    _ = try await end(of: process)
    return true
  }

  /// Asks it to end; its exit code, and 0 when there was nobody to ask.
  func stop() async throws -> Int {
    guard try await signal(SIGTERM), let process else { return 0 }
    return try await end(of: process)
  }

  private func end(of process: ServiceProcess) async throws -> Int {
    isAlive = false
    let code = try await process.exitCode()
    past.append(process.text)
    self.process = nil
    return code
  }

  /// The last lines of everything it printed.
  func tail(_ count: Int) -> String {
    (past + [process?.text ?? ""]).joined(separator: "\n").split(separator: "\n").suffix(count).joined(separator: "\n")
  }
}
