public import ArgumentParser
import FoundationEssentials
import Glibc
import PushKinds
import PushStore
import Reactors
public import SenderLogs

/// Where another sender's log is, and what it calls its columns.
struct SenderLogOptions: ParsableArguments {
  @Option(
    name: .customLong("import"), help: "The log: a file that ends in .csv or .ndjson, or - for the standard input.")
  var file: String?

  @Option(help: "How the log is written, csv or ndjson, where its name does not say.")
  var format: SenderLogFormat?

  @Option(help: "The host's table that is the log, with its schema, such as public.push_attempts. It is only read.")
  var table: String?

  @Option(help: "The column with the message's id, or another event's. message_id without it.")
  var messageColumn: String?

  @Option(help: "The column with the recipient's id. user_id without it.")
  var userColumn: String?

  @Option(help: "The column with the time of the push. sent_at without it.")
  var timeColumn: String?

  @Option(help: "The column with the kind. Without it kind of a file, and messages alone of a table.")
  var kindColumn: String?

  @Option(help: "The column with what became of the push. Without it outcome of a file; of a table all were sent.")
  var outcomeColumn: String?

  /// Whether a log is to be taken in.
  var isGiven: Bool { file != nil || table != nil }

  /// The names for the columns of a file.
  var columns: SenderLogColumns {
    var columns = SenderLogColumns()
    if let messageColumn { columns.subject = [messageColumn] }
    columns.user = userColumn ?? columns.user
    columns.time = timeColumn ?? columns.time
    columns.kind = kindColumn ?? columns.kind
    columns.outcome = outcomeColumn ?? columns.outcome
    return columns
  }

  /// The table, if it is one.
  var comparedTable: ComparedTable? {
    table.map {
      ComparedTable(
        name: $0, subject: messageColumn ?? "message_id", user: userColumn ?? "user_id", time: timeColumn ?? "sent_at",
        kind: kindColumn, outcome: outcomeColumn, pushedWords: SenderLogPush.pushedWords)
    }
  }
}

extension SenderLogFormat: ExpressibleByArgument {}

/// Takes a log in: reads it in pieces, and writes what it has brought in batches.
struct SenderLogImport {
  /// A statement of so many rows takes some 30 ms, and its arrays half a megabyte.
  private static let batchRows = 5000
  private static let pieceBytes = 256 * 1024
  /// Faults that are printed one by one.
  private static let faultsToldMax = 20

  private let options: SenderLogOptions
  private let database: PushDatabase
  private let ids: IDTypes
  private var batch: [ComparedPush] = []
  private var imported = 0
  private var pushes = 0
  private var faults = 0

  init(_ options: SenderLogOptions, into database: PushDatabase) {
    self.options = options
    self.database = database
    ids = database.idTypes
  }

  /// Takes the log in, and says how much it has.
  /// - Returns: whether every record could be used.
  func run(on reactor: isolated Reactor) async throws -> Bool {
    if let table = options.comparedTable {
      let (imported, leftOut) = try await database.importCompared(from: table, on: reactor)
      StandardStream.output.say("\(imported) new, \(leftOut) rows without an id or a time\n")
      return true
    }
    var work = self
    return try await work.readFile(on: reactor)
  }

  private mutating func readFile(on reactor: isolated Reactor) async throws -> Bool {
    let path = options.file ?? "-"
    let named = SenderLogFormat.allCases.first { path.hasSuffix(".\($0.rawValue)") }
    guard let format = options.format ?? named else { throw UnusableOption(name: "format", form: "csv or ndjson") }
    let descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw UnreadableLog(path: path, errno: errno) }
    defer { if descriptor > 0 { close(descriptor) } }
    var reader = SenderLogReader(format, columns: options.columns)
    var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
    while !reader.isHeaderUnusable {
      let count = read(descriptor, &piece, piece.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw UnreadableLog(path: path, errno: errno) }
      try await take(count == 0 ? reader.finish() : reader.read(piece[..<count]), on: reactor)
      if count == 0 { break }
    }
    try await write(on: reactor)
    StandardStream.output.say("\(pushes) pushes read, \(imported) new, \(faults) lines that cannot be used\n")
    return faults == 0
  }

  private mutating func take(_ entries: [SenderLogEntry], on reactor: isolated Reactor) async throws {
    for entry in entries {
      switch entry {
      case .fault(let fault, let line): tell(fault, line)
      case .push(let push, let line):
        guard let subject = ids.subjects.id(push.subject) else {
          tell("the id of the message is not \(ids.subjects.noun)", line)
          continue
        }
        guard let user = ids.users.id(push.user) else {
          tell("the id of the user is not \(ids.users.noun)", line)
          continue
        }
        pushes += 1
        batch.append(
          ComparedPush(
            subject: PushSubject(id: subject, kind: push.kind), userID: user, sentAt: push.sentAt, outcome: push.outcome
          ))
        if batch.count == Self.batchRows { try await write(on: reactor) }
      }
    }
  }

  private mutating func write(on reactor: isolated Reactor) async throws {
    guard !batch.isEmpty else { return }
    imported += try await database.importCompared(batch, on: reactor)
    batch.removeAll(keepingCapacity: true)
  }

  private mutating func tell(_ fault: String, _ line: Int) {
    faults += 1
    if faults <= Self.faultsToldMax { StandardStream.error.say("line \(line): \(fault)\n") }
    if faults == Self.faultsToldMax + 1 { StandardStream.error.say("further lines are only counted\n") }
  }
}

/// A log that cannot be read.
private struct UnreadableLog: Error, CustomDebugStringConvertible {
  let path: String
  let errno: Int32

  var debugDescription: String { "\(path) cannot be read: \(String(cString: strerror(errno)))" }
}
