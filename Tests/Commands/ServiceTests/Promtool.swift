import Foundation

/// Prometheus' own checks, where they are installed.
enum Promtool {
  static let isInstalled = path != nil

  private static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/promtool" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Runs it in `deploy/`; its exit code, and what it printed.
  static func run(_ arguments: [String], input: String = "") throws -> (code: Int32, output: String) {
    let file = URL(filePath: NSTemporaryDirectory()).appending(path: "promtool-\(UUID().uuidString)")
    try input.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = path.map { URL(filePath: $0) }
    process.arguments = arguments
    process.currentDirectoryURL = MonitoringFiles.folder
    process.standardInput = try FileHandle(forReadingFrom: file)
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}
