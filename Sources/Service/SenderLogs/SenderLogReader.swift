internal import FoundationEssentials

/// How a log is written.
public enum SenderLogFormat: String, CaseIterable, Sendable {
  /// Fields separated by commas (RFC 4180), with their names in the first record.
  case csv
  /// A JSON object a line.
  case ndjson
}

/// Reads the log of another sender from bytes as they come: bytes in, pushes out, and a fault with its line for each record that cannot
/// be used.
public struct SenderLogReader {
  private let columns: SenderLogColumns
  private let format: SenderLogFormat
  private var records: SenderLogRecords
  /// Of a CSV; nil before its first record.
  private var places: [String: Int]?

  /// Reads nothing yet.
  public init(_ format: SenderLogFormat, columns: SenderLogColumns = SenderLogColumns()) {
    self.format = format
    self.columns = columns
    records = SenderLogRecords(isQuoted: format == .csv)
  }

  /// Whether a CSV's first record lacks a column without which no other record can be used.
  public private(set) var isHeaderUnusable = false

  /// Reads more bytes; an incomplete record stays until the rest of it comes.
  public mutating func read(_ bytes: some Sequence<UInt8>) -> [SenderLogEntry] {
    var entries: [SenderLogEntry] = []
    for byte in bytes {
      if let record = records.add(byte), let entry = entry(of: record) { entries.append(entry) }
    }
    return entries
  }

  /// Reads the end: a last record may have no end of line.
  public mutating func finish() -> [SenderLogEntry] {
    records.finish().flatMap { entry(of: $0) }.map { [$0] } ?? []
  }

  private mutating func entry(of record: SenderLogRecords.Record) -> SenderLogEntry? {
    if isHeaderUnusable { return nil }
    do throws(SenderLogFault) {
      if let fault = record.fault { throw SenderLogFault(fault) }
      if record.bytes.isEmpty, record.ends.count < 2 { return nil }
      guard let push = format == .csv ? try row(record) : try object(record.bytes) else { return nil }
      return .push(push, line: record.line)
    } catch {
      return .fault(error.text, line: record.line)
    }
  }

  private mutating func row(_ record: SenderLogRecords.Record) throws(SenderLogFault) -> SenderLogPush? {
    guard let places else {
      try learn(record.ends.indices.map { String(decoding: record[$0], as: UTF8.self) })
      return nil
    }
    return try SenderLogPush(columns) { name throws(SenderLogFault) in
      guard let place = places[name], place < record.ends.count else { return nil }
      guard let text = String(validating: record[place], as: UTF8.self) else { throw SenderLogFault("it is not UTF-8") }
      return text
    }
  }

  private mutating func learn(_ names: [String]) throws(SenderLogFault) {
    var places: [String: Int] = [:]
    for (place, name) in names.enumerated() {
      let plain = name.hasPrefix("\u{FEFF}") ? String(name.unicodeScalars.dropFirst()) : name
      places[plain] = places[plain] ?? place
    }
    let missing = [columns.subject, [columns.user], [columns.time]].first { $0.allSatisfy { places[$0] == nil } }
    self.places = places
    if let missing {
      isHeaderUnusable = true
      throw SenderLogFault("the first line names no column \(missing.joined(separator: " or "))")
    }
  }

  private func object(_ line: [UInt8]) throws(SenderLogFault) -> SenderLogPush {
    guard let object = try? JSONDecoder().decode([String: LogValue].self, from: Data(line)) else {
      throw SenderLogFault("it is no JSON object")
    }
    return try SenderLogPush(columns) { object[$0]?.text }
  }
}

/// A value of a JSON object as text; what is no scalar has none.
private struct LogValue: Decodable {
  let text: String?

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let text = try? value.decode(String.self) {
      self.text = text
    } else if let number = try? value.decode(Int64.self) {
      text = String(number)
    } else if let number = try? value.decode(Double.self) {
      text = String(number)
    } else {
      text = (try? value.decode(Bool.self)).map { "\($0)" }
    }
  }
}
