import Foundation
import TestProcesses
import Testing

/// One of several services on a database whose processes tell the database their names, so that it is known whose leases a
/// killed one has left.
actor CampaignReplica {
  private let name: String
  private let settings: [String: String]
  private var generation = 0
  private var process: ServiceProcess?
  /// Where it answers.
  private(set) var origin = ""
  /// The names of those that were killed.
  private(set) var dead: [String] = []
  private var past: [String] = []

  init(_ name: String, _ settings: [String: String]) {
    self.name = name
    self.settings = settings
  }

  private var processName: String { "\(name)_\(generation)" }

  /// Returns when it serves.
  func start() async throws {
    generation += 1
    var settings = settings
    settings["DATABASE_URL", default: ""] += " application_name=\(processName)"
    let process = try ServiceProcess(["serve"], settings: settings)
    self.process = process
    let line = try await process.line(containing: "serving", within: .seconds(60))
    origin = "http://" + (try #require(line.firstMatch(of: /address=(\S+)/)?.1))
  }

  func kill() async throws {
    guard let process else { return }
    self.process = nil
    try await process.signal(SIGKILL)
    _ = try await process.exitCode()
    dead.append(processName)
    past.append(process.text)
  }

  /// Asks it to end; its exit code.
  func stop() async throws -> Int {
    guard let process else { return 0 }
    try await process.signal(SIGTERM)
    return try await process.exitCode(within: .seconds(60))
  }

  /// Everything its processes have printed.
  var text: String { (past + [process?.text ?? ""]).joined(separator: "\n") }
}
