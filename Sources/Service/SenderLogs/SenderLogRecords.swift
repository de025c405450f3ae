/// Splits a log into records, and those of a CSV into fields. Bytes in, a record out when it is whole.
struct SenderLogRecords {
  /// A record.
  struct Record {
    /// The number of its first line, from 1.
    let line: Int
    /// The fields behind one another, without quotes and commas; of other logs the whole line.
    let bytes: [UInt8]
    /// Where each field ends; at least one.
    let ends: [Int]
    /// Why it cannot be used; nil when it can.
    let fault: String?

    /// The bytes of a field.
    subscript(place: Int) -> ArraySlice<UInt8> { bytes[(place == 0 ? 0 : ends[place - 1])..<ends[place]] }
  }

  /// The most bytes of a record. A log that has the texts of messages beside their ids is far below it.
  static let recordBytesMax = 64 * 1024

  private enum Place {
    case plain
    case quoted
    /// Behind a quote within quotes: the end of the quoted part, or the first half of a quote that is meant.
    case quote
    /// In a record that is too long, up to its end of line.
    case skipping
  }

  private let isQuoted: Bool
  private var place = Place.plain
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  private var count = 0
  private var line = 1
  private var firstLine = 1

  /// - Parameter isQuoted: whether commas and quotes mean something.
  init(isQuoted: Bool) { self.isQuoted = isQuoted }

  @inline(__always)
  mutating func add(_ byte: UInt8) -> Record? {
    let isEnd = byte == UInt8(ascii: "\n")
    if isEnd { line += 1 }
    count += 1
    if count > Self.recordBytesMax {
      // The rest of a quoted field would otherwise be the rest of the log.
      place = .skipping
      return isEnd ? end(fault: Self.tooLong) : nil
    }
    if place == .quoted {
      if byte == UInt8(ascii: "\"") { place = .quote } else { bytes.append(byte) }
      return nil
    }
    if isEnd { return end() }
    take(byte)
    return nil
  }

  /// The last record, if it has no end of line.
  mutating func finish() -> Record? {
    guard count > 0 else { return nil }
    return end(fault: place == .quoted ? "a quote does not end" : place == .skipping ? Self.tooLong : nil)
  }

  private static let tooLong = "it is longer than \(recordBytesMax) bytes"

  @inline(__always)
  private mutating func take(_ byte: UInt8) {
    guard isQuoted else { return bytes.append(byte) }
    switch byte {
    case UInt8(ascii: "\"") where place == .quote || bytes.count == ends.last ?? 0:
      if place == .quote { bytes.append(byte) }
      place = .quoted
    case UInt8(ascii: ","):
      ends.append(bytes.count)
      place = .plain
    default:
      bytes.append(byte)
      place = .plain
    }
  }

  private mutating func end(fault: String? = nil) -> Record {
    if bytes.count > ends.last ?? 0, bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    let record = Record(line: firstLine, bytes: bytes, ends: ends + [bytes.count], fault: fault)
    bytes = []
    bytes.reserveCapacity(record.bytes.count)
    (ends, count, place, firstLine) = ([], 0, .plain, line)
    return record
  }
}
