import ArgumentParser
import FoundationEssentials
internal import Glibc
import Logging
import PushStore
import Settings
import UnixSignals

@main
struct Tacet: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tacet",
    abstract: "Pushes chat messages to people who are not looking, straight from PostgreSQL.",
    discussion: """
      Settings come from the environment, or from a file of KEY=value lines named by TACET_CONFIG, which can hold \
      several apps. A setting that is unknown or unusable stops the start and is named.
      """,
    version: BuildInformation.version,
    subcommands: [
      ServeCommand.self, InitCommand.self, MigrateCommand.self, AdoptCommand.self, DoctorCommand.self,
      ExplainCommand.self, PushCommand.self,
    ])
}

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Runs the service until SIGTERM or SIGINT, then finishes what it has begun and exits.",
    discussion: """
      SIGHUP makes it read its settings again: the apps' keys and the certificate are followed without dropping a \
      push; what else has changed is named in the log and waits for a restart. Settings with a problem change nothing.
      """)

  func run() async throws {
    // Before anything else, or a signal that comes early would end the process where it is.
    let signals = await UnixSignalsSequence(trapping: .sighup, .sigterm, .sigint)
    let environment = ProcessInfo.processInfo.environment
    let settings = try ServeSettings(environment: environment)
    let logger = settings.log.makeLogger(label: "tacet", instance: ServiceInstance.current.id)
    let proxies = UnusedProxies.names(in: environment)
    if !proxies.isEmpty {
      logger.warning(
        "a proxy is not used",
        metadata: ["variables": "\(proxies.joined(separator: " "))", "detail": "\(UnusedProxies.notice)"])
    }
    let supervisor = Supervisor(environment: environment)
    let service = try await PushService(settings, logger: logger, signals: signals, supervisor: supervisor) {
      try ServeSettings(environment: environment)
    }
    try await service.run()
  }
}

/// A stream of the process that other programs read.
enum StandardStream: Int32 {
  case output = 1
  case error = 2

  /// Writes a text at once. What reads it may have ended, as the `head` of a pipe does: then nothing more is to be said.
  func say(_ text: String) { say(Array(text.utf8)) }

  /// Writes bytes at once, as ``say(_:)-(String)`` does.
  func say(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = write(rawValue, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if written < 0 && errno == EINTR { continue }
        guard written > 0 else { return }
        rest = rest.dropFirst(written)
      }
    }
  }
}

extension ServiceInstance {
  static let current = ServiceInstance(
    id: ProcessName.random(), host: hostName, processID: getpid(), version: BuildInformation.version)

  private static var hostName: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// What one run of the service is called, in its log and wherever it says what it did.
enum ProcessName {
  /// Eight hexadecimal digits, drawn anew at each start: a process that comes back after a crash is another one, which a
  /// host name or process number would not show. With a hundred processes two share one once in a million times.
  static func random() -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

enum BuildInformation {
  /// The version of the service and of its interface, as `openapi.yaml` has it.
  static let version = "0.1.0"
}
