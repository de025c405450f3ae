import Testing

@testable import TemporalReferences

@Suite("TZif files")
struct TZifFileTests {
  @Test("all four versions are read", arguments: [0, UInt8(ascii: "2"), UInt8(ascii: "3"), UInt8(ascii: "4")])
  func versions(version: UInt8) throws {
    var sample = tableOnly
    sample.version = version
    let file = try TZifFile(sample.bytes)
    #expect(file.firstOffset == 3600 && file.rule == nil)
    #expect(file.transitions.map(\.at) == [-1_000, 1_000, 1_000_000_000])
    #expect(file.transitions.map(\.offset) == [7200, 3600, 7200])
  }

  @Test("the second block has 64-bit times")
  func wideTimes() throws {
    let sample = SampleFile(transitions: [(.min, 0), (-1 << 33, 0), (1 << 40, 0), (.max, 0)])
    #expect(try TZifFile(sample.bytes).transitions.map(\.at) == [.min, -1 << 33, 1 << 40, .max])
  }

  @Test("of a first block before a second one only the length counts")
  func firstBlock() throws {
    let second = Array(northern.bytes[SampleFile.stubBytes...])
    let described = SampleFile(transitions: [(5, 9), (5, 9)], offsets: [.max, 1], indicators: 2)
    let file = try TZifFile(described.firstBlock + second)
    #expect(file.transitions.count == 3 && file.rule != nil)
    let empty = SampleFile(offsets: [], designations: [])
    #expect(try TZifFile(empty.firstBlock + second).transitions.count == 3)
  }

  @Test("a file with indicators, 256 types and the outermost offsets is read")
  func outermost() throws {
    var sample = SampleFile(transitions: [(7, 255), (8, 1)], offsets: [Int32](repeating: 0, count: 256))
    sample.indicators = 256
    (sample.offsets[0], sample.offsets[1], sample.offsets[255]) = (-89_999, 93_599, -1)
    let file = try TZifFile(sample.bytes)
    #expect(file.firstOffset == -89_999 && file.transitions.map(\.offset) == [-1, 93_599])
  }

  @Test("a file of 65,536 bytes is read, and one of 65,537 is not")
  func size() throws {
    var sample = tableOnly
    sample.designations += [UInt8](repeating: 0, count: 65_536 - sample.bytes.count)
    #expect(try TZifFile(sample.bytes).transitions.count == 3)
    sample.designations.append(0)
    #expect(code(of: sample.bytes) == .tooLarge)
  }

  @Test(
    "a file is refused at every cut",
    arguments: [
      northern.bytes, tableOnly.bytes, firstVersion.bytes, SampleFile(offsets: [0, 1], indicators: 2).bytes,
      SampleFile(version: 0, offsets: [0, 1], indicators: 2).bytes,
    ])
  func cuts(file: [UInt8]) throws {
    _ = try TZifFile(file)
    for length in file.indices {
      #expect(code(of: Array(file[..<length])) == .truncated, "\(length)")
    }
  }

  @Test("a real file is refused at every cut", arguments: ["Asia/Tokyo", "Asia/Kathmandu", "Etc/UTC"])
  func realCuts(name: String) throws {
    try cuts(file: systemFile(name))
  }

  @Test("a file is refused with bytes after its end", arguments: [northern, tableOnly, firstVersion])
  func trailing(sample: SampleFile) {
    for rest in [[0], [10], Array("\n\n".utf8), sample.bytes] {
      #expect(code(of: sample.bytes + rest) == .trailingBytes)
    }
  }

  @Test("a wrong byte of either magic number or version is refused", arguments: [0, SampleFile.stubBytes])
  func magic(start: Int) {
    for position in start..<start + 4 {
      var file = northern.bytes
      file[position] ^= 0x20
      #expect(code(of: file) == .notTZif)
    }
    for version in UInt8.min...UInt8.max where !"\0234".utf8.contains(version) {
      var file = northern.bytes
      file[start + 4] = version
      #expect(code(of: file) == .unknownVersion)
    }
    #expect(code(of: Array("#!/bin/sh".utf8)) == .notTZif)
  }

  @Test(
    "counts that lie are refused",
    arguments: [
      (.types, 0, .unusableCounts), (.types, 1, .unknownType), (.types, 3, .unusableOffset),
      (.types, 257, .truncated), (.types, .max, .truncated),
      (.transitions, 0, .unusableOffset), (.transitions, 2, .unusableOffset), (.transitions, 4, .unknownType),
      (.transitions, 0x8000_0000, .truncated), (.transitions, .max, .truncated),
      (.designationBytes, 0, .unusableCounts), (.designationBytes, 3, .unusableFooter),
      (.designationBytes, 5, .unusableFooter), (.designationBytes, .max, .truncated),
      (.utIndicators, 1, .unusableCounts), (.utIndicators, 2, .unusableFooter), (.utIndicators, 3, .unusableCounts),
      (.utIndicators, .max, .truncated), (.standardIndicators, 1, .unusableCounts),
      (.standardIndicators, 2, .unusableFooter), (.standardIndicators, .max, .truncated),
      (.leapSeconds, 1, .leapSeconds), (.leapSeconds, 27, .leapSeconds), (.leapSeconds, .max, .leapSeconds),
    ] as [(SampleFile.Count, UInt32, ZoneRulesError.Code)])
  func counts(count: SampleFile.Count, lie: UInt32, expected: ZoneRulesError.Code) {
    var sample = northern
    sample.lies = [count: lie]
    #expect(code(of: sample.bytes) == expected)
    sample.version = 0
    #expect(throws: ZoneRulesError.self) { try TZifFile(sample.bytes) }
  }

  @Test("all counts at their largest are refused, in either block")
  func largestCounts() {
    for start in [20, 20 + SampleFile.stubBytes] {
      var file = northern.bytes
      for byte in start..<start + 24 where !(start + 8..<start + 12).contains(byte) { file[byte] = .max }
      #expect(code(of: file) == .truncated)
    }
  }

  @Test("257 types are refused, of which the last could not be named")
  func tooManyTypes() {
    #expect(code(of: SampleFile(offsets: .init(repeating: 0, count: 257)).bytes) == .unusableCounts)
  }

  @Test(
    "transitions out of order are refused, and the same time twice",
    arguments: [[1, 1], [1, 0], [-5, -6], [.max, .min], [0, 1, 2, 2], [0, 1, 2, 1]] as [[Int64]])
  func order(times: [Int64]) {
    #expect(code(of: SampleFile(transitions: times.map { ($0, 0) }).bytes) == .unorderedTransitions)
  }

  @Test("a transition to a type after the last is refused", arguments: [2, 3, 255] as [UInt8])
  func typeIndex(type: UInt8) {
    #expect(code(of: SampleFile(transitions: [(0, 1), (1, type)], offsets: [0, 1]).bytes) == .unknownType)
  }

  @Test("an impossible offset is refused", arguments: [-90_000, 93_600, .min, .max, 1 << 24] as [Int32])
  func offset(offset: Int32) {
    #expect(code(of: SampleFile(offsets: [0, offset]).bytes) == .unusableOffset)
  }

  @Test(
    "a footer is a rule between two line feeds",
    arguments: [
      ("", .truncated), ("\n", .truncated), ("\nUTC0", .truncated), ("UTC0\n", .unusableFooter),
      (" \n\n", .unusableFooter), ("\nUTC\n", .unusableFooter), ("\n \n", .unusableFooter),
      ("\nUTC0\r\n", .unusableFooter), ("\nUTC0\0\n", .unusableFooter), ("\nUTC0\n\n", .trailingBytes),
      ("\n\n\n", .trailingBytes), ("\nEST5EDT\n", .unusableFooter),
    ] as [(String, ZoneRulesError.Code)])
  func footers(footer: String, expected: ZoneRulesError.Code) {
    #expect(code(of: SampleFile(footer: footer).bytes) == expected)
  }

  @Test("an error says where, and nothing of the content")
  func description() {
    let error = #expect(throws: ZoneRulesError.self) { try TZifFile(Array("secret of somebody".utf8)) }
    #expect(error?.description == "the file is not a TZif file (byte 4)")
  }

  private func code(of file: [UInt8]) -> ZoneRulesError.Code? {
    do throws(ZoneRulesError) {
      _ = try TZifFile(file)
      return nil
    } catch {
      return error.code
    }
  }
}
