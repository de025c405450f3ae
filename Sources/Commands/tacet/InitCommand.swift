import ArgumentParser
import FoundationEssentials
import Glibc
import Logging
import Operations
import Postgres
import PushRules
import PushStore
import Reactors
import Settings

struct InitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract:
      "Looks at a database, proposes which tables play which part, and writes the SQL that wires Tacet to them.",
    discussion: """
      Needs DATABASE_URL, and changes nothing there. Writes a mapping to be read and edited (tacet.host), and, where nothing in it \
      is uncertain, the SQL that it means. With --from it reads a mapping and writes the SQL. With --check it plays the newest \
      messages through the mapping instead, and says who would get them.
      """)

  @Option(help: "The mapping to read. Without it one is proposed.")
  var from: String?

  @Option(help: "The mapping to write; - for standard output. An existing one is not overwritten.")
  var mapping = "tacet.host"

  @Option(help: "The file of SQL to write; - for standard output. One that this command has written is written anew.")
  var output = "tacet-wiring.sql"

  @Option(help: "The role of the service, where it is another than the tables' owner.")
  var role: String?

  @Option(help: "With --check: the application's role, which then inserts a copy of the newest message.")
  var appRole: String?

  @Flag(help: "Play the newest messages through the mapping, in a transaction that is undone, and write nothing.")
  var check = false

  func run() async throws {
    let work = InitWork(from: from, mapping: mapping, output: output, role: role, isChecking: check, appRole: appRole)
    do {
      let settings = try CommandSettings(environment: ProcessInfo.processInfo.environment, needsSession: false)
      let (conninfo, logger) = (
        settings.database.connectionString.exposed, settings.log.makeLogger(label: "tacet.init")
      )
      try await ReactorGroup.perform { reactor in
        let database = try await DatabaseExamination.begin(conninfo, within: .seconds(10), logger: logger, on: reactor)
        defer { database.end(on: reactor) }
        try await work.run(with: HostLook(database: database), on: reactor)
      }
    } catch {
      let failure = error as? PostgresError
      let isRefused = failure?.sqlState == Migrator.notWired
      InitWork.complain("\((isRefused ? failure?.message : failure?.debugDescription) ?? "\(error)")")
      throw ExitCode.failure
    }
  }
}

/// What `tacet init` was told, and does.
private struct InitWork: Sendable {
  let from: String?
  let mapping: String
  let output: String
  let role: String?
  let isChecking: Bool
  let appRole: String?

  private static let isDefault = """
    The tables have the names and columns of the default contract. Nothing is to be written: run tacet migrate, then tacet doctor.
    """

  private static let columnsLeftOut =
    "tables were not looked at, because there are too many columns: name yours in the mapping"

  func run(with look: HostLook, on reactor: isolated Reactor) async throws {
    let (schema, leftOut) = try await look.schema(on: reactor)
    if leftOut > 0 { Self.complain("\(leftOut) \(Self.columnsLeftOut)") }
    let said = try from.map { try HostMapping(Self.text(of: $0)) }
    let wanted = try said ?? HostProposal.mapping(of: schema, role: role)
    if said == nil, wanted.isDefault { return print(Self.isDefault) }
    if said == nil, !isChecking { try Self.write(wanted.text, to: mapping, replacing: nil) }
    let unsure = wanted.unsure
    guard unsure.isEmpty else { throw UnsureMapping(lines: unsure.map(\.text), file: from ?? mapping) }
    let wiring = try await look.wiring(wanted, schema, on: reactor)
    if isChecking {
      for line in try await look.check(wiring, appRole: appRole, on: reactor) { print(line) }
      return
    }
    try Self.write(wiring.text, to: output, replacing: WiringFile.mark)
    if output != "-" { print(report(of: wiring, wanted)) }
  }

  static func complain(_ text: String) {
    StandardStream.error.say("tacet init: \(text)\n")
  }

  private static func text(of path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw UnusableFile(path: path, reason: String(cString: strerror(errno))) }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: HostMapping.bytesMax + 1)
    let count = fread(&bytes, 1, bytes.count, file)
    guard let text = String(validating: bytes.prefix(count), as: UTF8.self) else {
      throw UnusableFile(path: path, reason: "it is no UTF-8")
    }
    return text
  }

  /// - Parameter mark: how a file begins that may be overwritten; nil for none.
  private static func write(_ text: String, to path: String, replacing mark: String?) throws {
    guard path != "-" else { return print(text, terminator: "") }
    let isOurs = mark.map { begins(path, with: $0) } ?? false
    guard let file = fopen(path, isOurs ? "w" : "wx") else {
      let reason = String(cString: strerror(errno))
      throw UnusableFile(path: path, reason: "\(reason); name another file, or read a mapping with --from")
    }
    defer { fclose(file) }
    guard fputs(text, file) >= 0, fflush(file) == 0 else {
      throw UnusableFile(path: path, reason: String(cString: strerror(errno)))
    }
  }

  private static func begins(_ path: String, with mark: String) -> Bool {
    guard let file = fopen(path, "r") else { return false }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: mark.utf8.count)
    return fread(&bytes, 1, bytes.count, file) == bytes.count && bytes.elementsEqual(mark.utf8)
  }

  private func report(of wiring: WiringFile, _ wanted: HostMapping) -> String {
    let migrate = (["tacet", "migrate"] + wiring.ids.migrateOptions).joined(separator: " ")
    let file = from ?? mapping
    return """
      \(wanted.text)
      Read \(file). To change it, edit it and run tacet init --from \(file.shellQuoted). Then run:
        tacet init --from \(file.shellQuoted) --check
        \(migrate)   # its notices name what the next line replaces
        psql -X -v ON_ERROR_STOP=1 -f \(output.shellQuoted) "$DATABASE_URL"
        tacet doctor   # with the settings of the service
      """
  }
}

private struct UnusableFile: Error, CustomStringConvertible {
  let path: String
  let reason: String

  var description: String { "\(path): \(reason)" }
}

/// A mapping that nothing is wired with until a person has looked at it.
private struct UnsureMapping: Error, CustomStringConvertible {
  let lines: [String]
  let file: String

  var description: String {
    """
    \(lines.count) lines of \(file) are not certain, and nothing is wired before they are:
    \(lines.map { "  \($0)" }.joined(separator: "\n"))
    Delete the marks or the lines, or write what is right, and run tacet init --from \(file.shellQuoted).
    """
  }
}
