/// The parts of a TZif file in their order, read from its start. Numbers are big-endian. Source: RFC 9636 section 3.
struct TZifReader {
  /// The bytes of a local time type: offset, whether it is daylight saving time, index of the designation.
  static let typeBytes = 6

  /// More than 25 hours west and less than 26 hours east, in seconds. Source: RFC 9636 section 3.2.
  static let offsets = -89_999...93_599

  private let file: [UInt8]
  private var position = 0

  init(_ file: [UInt8]) {
    self.file = file
  }

  var bytesLeft: Int { file.count - position }
  var isAtEnd: Bool { bytesLeft == 0 }

  func error(_ code: ZoneRulesError.Code) -> ZoneRulesError { ZoneRulesError(code: code, position: position) }

  mutating func skip(_ bytes: Int) throws(ZoneRulesError) {
    guard bytesLeft >= bytes else { throw error(.truncated) }
    position += bytes
  }

  /// Magic number, version, 15 unused bytes and six counts.
  mutating func header() throws(ZoneRulesError) -> TZifHeader {
    guard try take(4).elementsEqual("TZif".utf8) else { throw error(.notTZif) }
    let versions: [UInt8] = [0, UInt8(ascii: "2"), UInt8(ascii: "3"), UInt8(ascii: "4")]
    guard let version = versions.firstIndex(of: try take(1)[position - 1]) else { throw error(.unknownVersion) }
    try skip(15)
    let (ut, standard, leapSeconds) = (try count(), try count(), try count())
    guard leapSeconds == 0 else { throw error(.leapSeconds) }
    return TZifHeader(
      version: version + 1, utIndicators: ut, standardIndicators: standard, transitions: try count(),
      types: try count(), designationBytes: try count())
  }

  /// Transition times of 4 or 8 bytes each.
  mutating func ascendingTimes(_ count: Int, bytes: Int) throws(ZoneRulesError) -> [Int64] {
    var times: [Int64] = []
    for _ in 0..<count {
      let time = try integer(bytes)
      if let last = times.last, last >= time { throw error(.unorderedTransitions) }
      times.append(time)
    }
    return times
  }

  mutating func typeIndices(_ count: Int, below types: Int) throws(ZoneRulesError) -> [Int] {
    var indices: [Int] = []
    for byte in try take(count) {
      guard byte < types else { throw error(.unknownType) }
      indices.append(Int(byte))
    }
    return indices
  }

  /// The offset of each local time type, in seconds east of UTC.
  mutating func offsets(_ types: Int) throws(ZoneRulesError) -> [Int] {
    var offsets: [Int] = []
    for _ in 0..<types {
      let offset = Int(try integer(4))
      guard Self.offsets.contains(offset) else { throw error(.unusableOffset) }
      offsets.append(offset)
      try skip(Self.typeBytes - 4)
    }
    return offsets
  }

  /// A `TZ` string between two line feeds; nil when it is empty. Source: RFC 9636 section 3.3.
  mutating func footer() throws(ZoneRulesError) -> PosixRule? {
    let lineFeed = UInt8(ascii: "\n")
    guard try take(1).first == lineFeed else { throw error(.unusableFooter) }
    guard let end = file[position...].firstIndex(of: lineFeed) else { throw error(.truncated) }
    let text = try take(end - position)
    let rule = text.isEmpty ? nil : PosixRule(text)
    guard text.isEmpty || rule != nil else { throw error(.unusableFooter) }
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
