import ArgumentParser
import FoundationEssentials
import Glibc
import Logging
import Reactors
import Simulators
import UnixSignals

@main
struct TacetSimulate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tacet-simulate",
    abstract: "Stand-ins for push services and language models, in development, tests and demos.",
    subcommands: [APNSCommand.self, FCMCommand.self, WebPushCommand.self, ModelCommand.self])
}

/// `127.0.0.1:2197` or `[::1]:2197`.
struct ListenAddress: ExpressibleByArgument, CustomStringConvertible {
  let address: SocketAddress

  var description: String { address.description }

  /// A default with a numeric host.
  init(_ host: String, _ port: UInt16) {
    guard let address = SocketAddress(numericHost: host, port: port) else {
      preconditionFailure("\(host) is no numeric address")
    }
    self.address = address
  }

  /// Nil for a host name, and without a port.
  init?(argument: String) {
    guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...]) else {
      return nil
    }
    var host = argument[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard let address = SocketAddress(numericHost: String(host), port: port) else { return nil }
    self.address = address
  }
}

/// The options that every simulator has.
struct SimulatorOptions: ParsableArguments {
  @Option(help: "A file to write the actual addresses into, as JSON, once everything listens.")
  var readyFile: String?

  @Option(help: "trace, debug, info, notice, warning, error or critical.", transform: Self.level)
  var logLevel = Logger.Level.info

  private static func level(_ name: String) throws -> Logger.Level {
    guard let level = Logger.Level(rawValue: name) else { throw ValidationError("\(name) is no log level") }
    return level
  }

  /// Runs a simulator on one reactor until SIGTERM or SIGINT. Its addresses are the first line of standard output, and in the
  /// file that scripts may wait for; the log is on standard error.
  /// - Parameter start: returns the addresses as JSON on one line, and what stops the simulator.
  func run(_ start: (Reactor) async throws -> (addresses: String, stop: () async -> Void)) async throws {
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = logLevel
      return handler
    }
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let group = try ReactorGroup(count: 1, name: "simulator")
    let (addresses, stop) = try await start(group.reactors[0])
    print(addresses)
    fflush(nil)
    if let readyFile { try TextFile.write(addresses + "\n", to: readyFile) }
    for await _ in signals { break }
    await stop()
    await group.stop()
  }
}

/// What the listeners prove themselves with.
struct TLSOptions: ParsableArguments {
  @Option(help: "A PEM file with the server's certificate and its intermediates; else a private authority is made.")
  var certificate: String?

  @Option(help: "A PEM file with the certificate's key.")
  var privateKey: String?

  @Option(help: "A file to write the private authority's certificate into, for clients to trust.")
  var caOut: String?

  init() {}

  /// Refuses what does not belong together.
  func validate() throws {
    guard (certificate == nil) == (privateKey == nil) else {
      throw ValidationError("--certificate and --private-key belong together")
    }
    guard certificate == nil || caOut == nil else {
      throw ValidationError("--ca-out is for the private authority, which --certificate replaces")
    }
  }

  func identity() throws(TextFileError) -> SimulatorIdentity {
    guard let certificate, let privateKey else { return .privateAuthority }
    return .pem(certificate: try TextFile.read(certificate), key: try TextFile.read(privateKey))
  }
}

/// Small files, with errors that name the path.
enum TextFile {
  /// The whole file. Invalid UTF-8 is repaired.
  static func read(_ path: String) throws(TextFileError) -> String {
    do {
      return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    } catch {
      throw TextFileError("\(path) cannot be read", error)
    }
  }

  /// Writes atomically, so that a reader never sees a partial file.
  static func write(_ text: String, to path: String) throws(TextFileError) {
    do {
      try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw TextFileError("\(path) cannot be written", error)
    }
  }
}

struct TextFileError: Error, CustomStringConvertible {
  /// The path, the operation and the system's message.
  let description: String

  init(_ summary: String, _ error: any Error) {
    description = "\(summary): \(Self.cause(of: error))"
  }

  /// The system's message inside Foundation's error.
  private static func cause(of error: any Error) -> String {
    let system = (error as? CocoaError)?.userInfo.values.lazy.compactMap { $0 as? POSIXError }.first
    guard let system else { return "\(error)" }
    return String(cString: strerror(system.code.rawValue))
  }
}
