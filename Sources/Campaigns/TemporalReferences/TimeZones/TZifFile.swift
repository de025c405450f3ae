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
    guard file.count <= Self.bytesMax else { throw ZoneRulesError(code: .tooLarge, position: Self.bytesMax) }
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
    guard reader.isAtEnd else { throw reader.error(.trailingBytes) }
  }

  /// Reads a data block: transition times, their types, the types, and the parts that do not matter here.
  private mutating func read(_ header: TZifHeader, timeBytes: Int, _ reader: inout TZifReader) throws(ZoneRulesError) {
    // All of the block is there before anything of its size is allocated.
    guard reader.bytesLeft >= header.blockBytes(timeBytes: timeBytes) else { throw reader.error(.truncated) }
    guard header.isConsistent else { throw reader.error(.unusableCounts) }
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
