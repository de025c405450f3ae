internal import Glibc
internal import Synchronization

/// The time zones of this machine by their names: a folder of TZif files, each read at its first use.
///
/// Safe for all threads. A file that changes after its first use, as when the system's `tzdata` is updated, is read again
/// when the process starts again.
package final class ZoneDirectory: Sendable {
  /// The most zones kept. The database has 600 names; beyond this a folder with links to itself could make any number of
  /// them. A full cache starts over: reading a file again takes microseconds.
  static let zonesMax = 1024

  /// The zones of this machine, where every Linux distribution has them.
  package static let system = ZoneDirectory()

  /// The folder as it was named.
  package let path: String

  /// The folder without symbolic links; nil if it does not exist.
  private let folder: String?

  private let zones = Mutex<[String: ZoneRules]>([:])

  /// Resolves the folder. Files are read later.
  /// - Parameter path: where the C library has its zones: the value of `TZDIR` if that is set.
  package init(path: String = "/usr/share/zoneinfo") {
    self.path = path
    folder = Self.resolved(path)
  }

  var count: Int { zones.withLock(\.count) }

  /// The rules of a zone. The first call for a name reads a file, which blocks for some microseconds.
  ///
  /// Only zones that exist are remembered, so that unknown names take no memory.
  /// - Parameter name: such as `Europe/Berlin`. Case-sensitive. It may come from a user: any text is safe.
  /// - Returns: nil for a name that no zone can have, a zone that the folder does not have, and an unusable file. A file is
  ///   unusable if it is not a TZif file, counts leap seconds, or is a link that leads outside the folder.
  package func rules(of name: String) -> ZoneRules? {
    // Before the look-up, which takes the Kelvin sign for a K and hashes texts of any length.
    guard ZoneName.isWellFormed(name) else { return nil }
    if let known = zones.withLock({ $0[name] }) { return known }
    // Read without the lock: other threads need not wait, and two that read the same file find the same.
    guard let file = file(of: name), let rules = try? ZoneRules(file) else { return nil }
    zones.withLock { zones in
      if zones.count >= Self.zonesMax { zones.removeAll() }
      zones[name] = rules
    }
    return rules
  }

  private func file(of name: String) -> [UInt8]? {
    guard let folder, let path = Self.resolved(folder + "/" + name), path.utf8.starts(with: (folder + "/").utf8) else {
      return nil
    }
    // Opening a FIFO would wait for a writer without O_NONBLOCK.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      (1...TZifFile.bytesMax).contains(status.st_size)
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: status.st_size)
    // A regular file is read in one piece. A file that changes meanwhile is unusable.
    return read(descriptor, &bytes, bytes.count) == bytes.count ? bytes : nil
  }

  /// A path without symbolic links; nil if it leads nowhere.
  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// The outer form of the names in the IANA time zone database, as its `theory.html` has it: ASCII letters, digits, `_`, `+`
/// and `-`, in components with `/` between. As a path it cannot leave the folder it is looked up in.
package enum ZoneName {
  /// The most bytes taken; the longest name has 32.
  static let bytesMax = 64

  /// The folder of the zones that count leap seconds, which Unix time does not.
  private static let withLeapSeconds = "right"

  /// Whether a text has this form and is not of a zone that counts leap seconds.
  static func isWellFormed(_ name: String) -> Bool {
    hasSyntax(name) && !name.utf8.prefix { $0 != UInt8(ascii: "/") }.elementsEqual(withLeapSeconds.utf8)
  }

  /// Whether a text has this form. Which zones exist is another question.
  package static func hasSyntax(_ name: String) -> Bool {
    name.utf8.count <= bytesMax
      && name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        .allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isOfZoneName) }
  }
}

extension UInt8 {
  var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  fileprivate var isOfZoneName: Bool {
    isLetter || isDigit || self == UInt8(ascii: "_") || self == UInt8(ascii: "+") || self == UInt8(ascii: "-")
  }
}

/// The rules of one time zone: offsets from UTC, and when they change.
///
/// A value that is read once and then asked without I/O. Its memory is 16 bytes for each change, in files of today at most
/// 4 kilobytes.
package struct ZoneRules: Sendable {
  /// The offset before the first change.
  private let firstOffset: Int

  /// Ascending. Each differs in its offset from the one before.
  let changes: [ZoneChange]

  /// What counts from ``ruleStart`` on.
  private let rule: PosixRule?

  private let ruleStart: Int64

  /// Reads the content of a TZif file of version 1 to 4.
  ///
  /// Of a file with a version of 2 or more, the block with 64-bit times and the footer count. Times before the first
  /// transition have the offset of type 0. Transitions that change only the designation are dropped.
  ///
  /// - Parameter file: all of it; up to 64 kilobytes.
  /// - Throws: `ZoneRulesError` for a file that contradicts RFC 9636 section 3, or counts leap seconds.
  init(_ file: [UInt8]) throws(ZoneRulesError) {
    let content = try TZifFile(file)
    firstOffset = content.firstOffset
    rule = content.rule
    ruleStart = content.transitions.last?.at ?? .min
    changes = Self.changes(in: content)
  }

  /// The transitions that change the offset. The last one is the first moment of the footer's rule.
  private static func changes(in content: TZifFile) -> [ZoneChange] {
    var changes: [ZoneChange] = []
    for (number, transition) in zip(1..., content.transitions) {
      let rule = number == content.transitions.count ? content.rule : nil
      let offset = rule?.offset(at: transition.at) ?? transition.offset
      if offset == changes.last?.offset ?? content.firstOffset { continue }
      changes.append(ZoneChange(at: transition.at, offset: offset))
    }
    return changes
  }

  /// Seconds east of UTC: -89,999 to 93,599.
  ///
  /// After the last change of the file its footer's rule goes on for ever. Without one the last offset does.
  /// - Parameter seconds: Unix time. Every value has an answer.
  package func offset(at seconds: Int64) -> Int {
    if let rule, seconds >= ruleStart { return rule.offset(at: seconds) }
    let past = changes.startIndex(after: seconds)
    return past == 0 ? firstOffset : changes[past - 1].offset
  }

  /// The next change of the offset after a moment.
  ///
  /// - Parameter seconds: Unix time. A change at this very second is not the next one.
  /// - Returns: nil if the offset never changes again, or not before the end of `Int64`.
  package func nextChange(after seconds: Int64) -> ZoneChange? {
    let next = changes.startIndex(after: seconds)
    if next < changes.count { return changes[next] }
    return rule?.nextChange(after: max(seconds, ruleStart))
  }
}

/// A change of a zone's offset from UTC.
package struct ZoneChange: Hashable, Sendable {
  /// Unix time of the first second with the new offset.
  package let at: Int64

  /// The new offset, in seconds east of UTC.
  package let offset: Int
}

extension [ZoneChange] {
  /// The index of the first change after a moment, or the count.
  fileprivate func startIndex(after seconds: Int64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].at > seconds { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// What a TZif file says of offsets. Designations, and whether a time is daylight saving time, are left out.
///
/// Source: RFC 9636 section 3.
struct TZifFile {
  /// The most bytes read. The largest file of the database has 4 kilobytes, and one transition takes 9 bytes: this is
  /// room for 7,000 of them.
  static let bytesMax = 65_536

  /// Strictly ascending; each with the offset that begins then.
  private(set) var transitions: [ZoneChange] = []

  /// The offset before the first transition: that of type 0.
  private(set) var firstOffset = 0

  /// What counts from the last transition on; nil when the footer is empty or missing.
  private(set) var rule: PosixRule?

  /// - Throws: `ZoneRulesError` when any part that is read contradicts section 3, or bytes are left over.
  init(_ file: [UInt8]) throws(ZoneRulesError) {
    guard file.count <= Self.bytesMax else { throw .tooLarge }
    var reader = TZifReader(file)
    let header = try reader.header()
    if header.version == 1 {
      try read(header, timeBytes: 4, &reader)
    } else {
      // The first block is for readers of 32-bit times. It may be a stub, so only its length matters.
      try reader.skip(header.blockBytes(timeBytes: 4))
      try read(reader.header(), timeBytes: 8, &reader)
      rule = try reader.footer()
    }
    guard reader.isAtEnd else { throw .trailingBytes }
  }

  /// Reads a data block: transition times, their types, the types, and the parts that do not matter here.
  private mutating func read(_ header: TZifHeader, timeBytes: Int, _ reader: inout TZifReader) throws(ZoneRulesError) {
    // All of the block is there before anything of its size is allocated.
    guard reader.bytesLeft >= header.blockBytes(timeBytes: timeBytes) else { throw .truncated }
    guard header.isConsistent else { throw .unusableCounts }
    let times = try reader.ascendingTimes(header.transitions, bytes: timeBytes)
    let types = try reader.typeIndices(header.transitions, below: header.types)
    let offsets = try reader.offsets(header.types)
    try reader.skip(header.designationBytes + header.standardIndicators + header.utIndicators)
    firstOffset = offsets[0]
    transitions = zip(times, types).map { ZoneChange(at: $0, offset: offsets[$1]) }
  }
}

/// The counts before a data block. Source: RFC 9636 section 3.1.
struct TZifHeader {
  /// 1 to 4.
  let version: Int
  let utIndicators: Int
  let standardIndicators: Int
  let transitions: Int
  let types: Int
  let designationBytes: Int

  /// A transition names its type with one byte, so types after the 256th cannot be used.
  static let typesMax = 256

  /// What section 3.1 demands of the counts.
  var isConsistent: Bool {
    (1...Self.typesMax).contains(types) && designationBytes > 0 && [0, types].contains(utIndicators)
      && [0, types].contains(standardIndicators)
  }

  /// The length of the block. Counts have 32 bits, so the sum stays below 2^37.
  /// - Parameter timeBytes: 4 in the first block, 8 in the second.
  func blockBytes(timeBytes: Int) -> Int {
    transitions * (timeBytes + 1) + types * TZifReader.typeBytes + designationBytes + standardIndicators + utIndicators
  }
}

/// The parts of a TZif file in their order, read from its start. Numbers are big-endian. Source: RFC 9636 section 3.
struct TZifReader {
  /// The bytes of a local time type: offset, whether it is daylight saving time, index of the designation.
  static let typeBytes = 6

  /// More than 25 hours west and less than 26 hours east, in seconds. Source: RFC 9636 section 3.2.
  static let offsets = -89_999...93_599

  private let file: [UInt8]
  private var position = 0

  init(_ file: [UInt8]) { self.file = file }

  var bytesLeft: Int { file.count - position }
  var isAtEnd: Bool { bytesLeft == 0 }

  mutating func skip(_ bytes: Int) throws(ZoneRulesError) {
    guard bytesLeft >= bytes else { throw .truncated }
    position += bytes
  }

  /// Magic number, version, 15 unused bytes and six counts.
  mutating func header() throws(ZoneRulesError) -> TZifHeader {
    guard try take(4).elementsEqual("TZif".utf8) else { throw .notTZif }
    let versions: [UInt8] = [0, UInt8(ascii: "2"), UInt8(ascii: "3"), UInt8(ascii: "4")]
    guard let version = versions.firstIndex(of: try take(1)[position - 1]) else { throw .unknownVersion }
    try skip(15)
    let (ut, standard, leapSeconds) = (try count(), try count(), try count())
    guard leapSeconds == 0 else { throw .leapSeconds }
    return TZifHeader(
      version: version + 1, utIndicators: ut, standardIndicators: standard, transitions: try count(),
      types: try count(), designationBytes: try count())
  }

  /// Transition times of 4 or 8 bytes each.
  mutating func ascendingTimes(_ count: Int, bytes: Int) throws(ZoneRulesError) -> [Int64] {
    var times: [Int64] = []
    for _ in 0..<count {
      let time = try integer(bytes)
      if let last = times.last, last >= time { throw .unorderedTransitions }
      times.append(time)
    }
    return times
  }

  mutating func typeIndices(_ count: Int, below types: Int) throws(ZoneRulesError) -> [Int] {
    var indices: [Int] = []
    for byte in try take(count) {
      guard byte < types else { throw .unknownType }
      indices.append(Int(byte))
    }
    return indices
  }

  /// The offset of each local time type, in seconds east of UTC.
  mutating func offsets(_ types: Int) throws(ZoneRulesError) -> [Int] {
    var offsets: [Int] = []
    for _ in 0..<types {
      let offset = Int(try integer(4))
      guard Self.offsets.contains(offset) else { throw .unusableOffset }
      offsets.append(offset)
      try skip(Self.typeBytes - 4)
    }
    return offsets
  }

  /// A `TZ` string between two line feeds; nil when it is empty. Source: RFC 9636 section 3.3.
  mutating func footer() throws(ZoneRulesError) -> PosixRule? {
    let lineFeed = UInt8(ascii: "\n")
    guard try take(1).first == lineFeed else { throw .unusableFooter }
    guard let end = file[position...].firstIndex(of: lineFeed) else { throw .truncated }
    let text = try take(end - position)
    let rule = text.isEmpty ? nil : PosixRule(text)
    guard text.isEmpty || rule != nil else { throw .unusableFooter }
    try skip(1)
    return rule
  }

  private mutating func take(_ bytes: Int) throws(ZoneRulesError) -> ArraySlice<UInt8> {
    try skip(bytes)
    return file[position - bytes..<position]
  }

  /// An unsigned number of 4 bytes.
  private mutating func count() throws(ZoneRulesError) -> Int {
    Int(UInt32(truncatingIfNeeded: try integer(4)))
  }

  /// A signed number of 1 to 8 bytes.
  private mutating func integer(_ bytes: Int) throws(ZoneRulesError) -> Int64 {
    let slice = try take(bytes)
    let first = Int64(Int8(truncatingIfNeeded: slice[slice.startIndex]))
    return slice.dropFirst().reduce(first) { $0 << 8 | Int64($1) }
  }
}

/// Why the content of a file is unusable as the rules of a time zone.
enum ZoneRulesError: Error {
  case tooLarge
  /// The magic number is missing.
  case notTZif
  /// The version is not 1 to 4.
  case unknownVersion
  case truncated
  /// The file is longer than its content.
  case trailingBytes
  /// A count contradicts another one, or there are more types than an index can name.
  case unusableCounts
  /// The file counts leap seconds, which Unix time does not.
  case leapSeconds
  case unorderedTransitions
  case unknownType
  /// An offset is outside of what RFC 9636 allows.
  case unusableOffset
  /// The rule for the time after the last transition is not a POSIX `TZ` string.
  case unusableFooter
}
