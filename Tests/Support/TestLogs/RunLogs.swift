import Foundation
package import Logging
import Synchronization

/// What a test run leaves in the folder that `TACET_TEST_LOGS` names: the logs of all its parts, and a list of what must
/// not stand in any of them. Without the variable nothing is written.
///
/// `deploy/test` searches the logs for the list when the tests are over.
package enum RunLogs {
  /// What a value is, in the list.
  package enum Kind: String, Sendable {
    /// A key, a password, or what a signature is made with.
    case secret
    /// A client's token.
    case clientToken = "client_token"
    /// A device's token; its first eight digits may be told.
    case deviceToken = "device_token"
    /// What a message says.
    case text
  }

  /// Shorter values are words of every log.
  private static let bytesMin = 7
  private static let folder = ProcessInfo.processInfo.environment["TACET_TEST_LOGS"].flatMap { $0.isEmpty ? nil : $0 }
  private static let noted = Mutex<Set<String>>([])

  /// Adds to a log of this run; several may write to it at the same time, each a whole line or more.
  package static func append(_ bytes: some Collection<UInt8>, to name: String) {
    guard let folder else { return }
    append(bytes, toFile: "\(folder)/\(name)")
  }

  /// Adds to a file in one call, because what several writers add by several calls gets mixed.
  static func append(_ bytes: some Collection<UInt8>, toFile path: String) {
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else { return }
    defer { close(file) }
    _ = Array(bytes).withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
  }

  /// A new name for a log, with the number of this process and one within it.
  package static func name(for program: String) -> String {
    let number = numbers.withLock { number in
      number += 1
      return number
    }
    return "\(program)-\(getpid())-\(number).log"
  }

  private static let numbers = Mutex(0)

  /// Puts a value on the list; of one with several lines each line, without the marks around a key.
  package static func note(_ value: String, as kind: Kind) {
    guard folder != nil else { return }
    for part in parts(of: value, kind) where part.utf8.count >= bytesMin {
      guard noted.withLock({ $0.insert(part).inserted }) else { continue }
      append(Array("\(kind.rawValue)\t\(part)\n".utf8), to: "secrets")
    }
  }

  /// What to search for: part of a value is as bad as all of it.
  private static func parts(of value: String, _ kind: Kind) -> [String] {
    switch kind {
    case .deviceToken: [String(value.prefix(12))]
    case .clientToken: value.split(separator: ".").map(String.init)
    case .secret, .text: value.split(whereSeparator: \.isNewline).map(String.init).filter { !$0.hasPrefix("-----") }
    }
  }

  /// Puts the secret ones of a process's settings on the list.
  package static func note(settings: [String: String]) {
    for key in ["WEBHOOK_SECRET", "SERVICE_KEY"] {
      for value in settings[key, default: ""].split(separator: " ") {
        note(String(value), as: .secret)
        note(String(value.trimmingPrefix("whsec_")), as: .secret)
      }
    }
    for key in ["JWT_SECRET", "APNS_PRIVATE_KEY", "LANGUAGE_MODEL_KEY", "CONTENT_AUTHORIZATION"] {
      note(settings[key, default: ""], as: .secret)
    }
    for key in ["DATABASE_URL", "JWKS_URL"] {
      let value = settings[key, default: ""]
      for match in value.matches(of: /:\/\/[^:@\/]*:([^@]+)@|password=(\S+)/) {
        note(String(match.1 ?? match.2 ?? ""), as: .secret)
      }
    }
  }

  /// Logs at every level into the run's folder, or nowhere.
  package static var logger: Logger {
    Logger(label: "tests") { _ in
      if folder == nil { SwiftLogNoOpLogHandler() } else { FileHandler() }
    }
  }

  private struct FileHandler: LogHandler {
    private static let file = RunLogs.name(for: "tests")

    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let all = metadata.merging(event.metadata ?? [:]) { $1 }
      let line = "\(event.level) \(event.message) " + all.map { "\($0)=\($1)" }.joined(separator: " ") + "\n"
      RunLogs.append(Array(line.utf8), to: Self.file)
    }
  }
}
