import Foundation
import TestRandomness
import Testing

@testable import TemporalReferences

@Suite("The rules of a zone")
struct ZoneRulesTests {
  @Test(
    "both sides of each change",
    arguments: [
      (.min, 3600), (-1_001, 3600), (-1_000, 7200), (999, 7200), (1_000, 3600), (999_999_999, 3600),
      (1_000_000_000, 7200),
    ] as [(Int64, Int)])
  func changes(seconds: Int64, offset: Int) throws {
    for sample in [northern, tableOnly, firstVersion] {
      #expect(try ZoneRules(sample.bytes).offset(at: seconds) == offset)
    }
  }

  @Test("without a rule the last offset goes on for ever", arguments: [tableOnly, firstVersion])
  func lastOffset(sample: SampleFile) throws {
    let rules = try ZoneRules(sample.bytes)
    #expect(rules.nextChange(after: 999_999_999) == ZoneChange(at: 1_000_000_000, offset: 7200))
    for seconds in [1_000_000_000, 1_000_000_001, 1_767_225_600, .max] as [Int64] {
      #expect(rules.offset(at: seconds) == 7200 && rules.nextChange(after: seconds) == nil)
    }
  }

  @Test("a rule begins with the last change, and goes on for ever")
  func rule() throws {
    let rules = try ZoneRules(northern.bytes)
    let (spring, autumn) = (try unix("2026-03-29T01:00:00Z"), try unix("2026-10-25T01:00:00Z"))
    #expect(rules.nextChange(after: 1_000_000_000)?.at == (try unix("2001-10-28T01:00:00Z")))
    #expect(rules.nextChange(after: spring - 1) == ZoneChange(at: spring, offset: 7200))
    #expect(rules.nextChange(after: spring) == ZoneChange(at: autumn, offset: 3600))
    #expect(rules.offset(at: spring - 1) == 3600 && rules.offset(at: spring) == 7200)
    #expect(rules.offset(at: autumn - 1) == 7200 && rules.offset(at: autumn) == 3600)
    #expect(rules.nextChange(after: .max) == nil)
  }

  @Test("without a transition the rule counts always; without a rule the first type does")
  func noTransition() throws {
    let ruled = try ZoneRules(SampleFile(offsets: [5], footer: northern.footer).bytes)
    #expect(ruled.offset(at: 0) == 3600)
    #expect(ruled.nextChange(after: 0)?.at == (try unix("1970-03-29T01:00:00Z")))
    #expect(try #require(ruled.nextChange(after: .min)).at < .min + 366 * 86_400)
    let typed = try ZoneRules(SampleFile(offsets: [5, 6]).bytes)
    #expect(typed.offset(at: 0) == 5 && typed.nextChange(after: .min) == nil)
  }

  @Test("a transition to the same offset is no change")
  func sameOffset() throws {
    let sample = SampleFile(
      transitions: [(-10, 1), (0, 0), (10, 2), (20, 1), (30, 2), (40, 0)], offsets: [3600, 3600, 7200],
      footer: "\nCET-1\n")
    let rules = try ZoneRules(sample.bytes)
    var changes: [ZoneChange] = []
    while let next = rules.nextChange(after: changes.last?.at ?? .min) { changes.append(next) }
    #expect(changes == [(10, 7200), (20, 3600), (30, 7200), (40, 3600)].map { ZoneChange(at: $0, offset: $1) })
  }

  @Test("where the last transition and the rule differ, the rule counts")
  func contradiction() throws {
    let transitions: [(Int64, UInt8)] = [(0, 1), (10, 0)]
    let rules = try ZoneRules(SampleFile(transitions: transitions, offsets: [0, 60], footer: "\nAAA-2\n").bytes)
    #expect(rules.offset(at: 9) == 60 && rules.offset(at: 10) == 7200)
    #expect(rules.nextChange(after: 9) == ZoneChange(at: 10, offset: 7200) && rules.nextChange(after: 10) == nil)
    let unchanged = try ZoneRules(SampleFile(transitions: transitions, offsets: [0, 60], footer: "\nAAA-0:01\n").bytes)
    #expect(unchanged.nextChange(after: 0) == nil)
  }

  @Test("before its first moment the rule changes nothing")
  func beforeRule() throws {
    let start = try unix("2026-01-15T00:00:00Z")
    let sample = SampleFile(transitions: [(0, 1), (start, 0)], offsets: [3600, 3600], footer: northern.footer)
    let rules = try ZoneRules(sample.bytes)
    let spring = ZoneChange(at: try unix("2026-03-29T01:00:00Z"), offset: 7200)
    for moment in [.min, 0, try unix("2025-07-01T00:00:00Z"), start - 1, start] {
      #expect(rules.offset(at: moment) == 3600 && rules.nextChange(after: moment) == spring)
    }
  }

  @Test("changes at the ends of time")
  func extremes() throws {
    let rules = try ZoneRules(SampleFile(transitions: [(.min, 1), (.max, 2)], offsets: [0, 1, 2]).bytes)
    #expect(rules.offset(at: .min) == 1 && rules.offset(at: .max - 1) == 1 && rules.offset(at: .max) == 2)
    #expect(rules.nextChange(after: .min) == ZoneChange(at: .max, offset: 2) && rules.nextChange(after: .max) == nil)
  }
}

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
      (.types, 0, .unusableCounts), (.types, 1, .unknownType), (.types, 3, .unusableOffset), (.types, 257, .truncated),
      (.types, .max, .truncated), (.transitions, 0, .unusableOffset), (.transitions, 2, .unusableOffset),
      (.transitions, 4, .unknownType), (.transitions, 0x8000_0000, .truncated), (.transitions, .max, .truncated),
      (.designationBytes, 0, .unusableCounts), (.designationBytes, 3, .unusableFooter),
      (.designationBytes, 5, .unusableFooter), (.designationBytes, .max, .truncated),
      (.utIndicators, 1, .unusableCounts), (.utIndicators, 2, .unusableFooter), (.utIndicators, 3, .unusableCounts),
      (.utIndicators, .max, .truncated), (.standardIndicators, 1, .unusableCounts),
      (.standardIndicators, 2, .unusableFooter), (.standardIndicators, .max, .truncated),
      (.leapSeconds, 1, .leapSeconds), (.leapSeconds, 27, .leapSeconds), (.leapSeconds, .max, .leapSeconds),
    ] as [(SampleFile.Count, UInt32, ZoneRulesError)])
  func counts(count: SampleFile.Count, lie: UInt32, expected: ZoneRulesError) {
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
    ] as [(String, ZoneRulesError)])
  func footers(footer: String, expected: ZoneRulesError) {
    #expect(code(of: SampleFile(footer: footer).bytes) == expected)
  }

  private func code(of file: [UInt8]) -> ZoneRulesError? {
    do throws(ZoneRulesError) {
      _ = try TZifFile(file)
      return nil
    } catch {
      return error
    }
  }
}

@Suite("Damaged files")
struct ZoneRulesFuzzTests {
  private static let filesOfPart = 25_000

  /// Of every version and size, with rules of all kinds.
  private static let originals: [[UInt8]] = {
    let made = [
      northern, tableOnly, firstVersion,
      SampleFile(transitions: [(-5, 1), (5, 2), (9, 0)], offsets: [0, 1, -1], footer: "\nAAA0BBB,59/0,365/167\n"),
      SampleFile(footer: "\n<+1030>-10:30<+11>-11,M10.1.0,M4.1.0\n"),
      SampleFile(footer: "\nXXX3EDT4,0/0,J365/23\n"),
      SampleFile(version: 0, offsets: [0, 1], indicators: 2),
    ]
    let real = ["Asia/Tokyo", "Asia/Kathmandu", "Etc/UTC", "Pacific/Apia", "Africa/Nairobi"]
    return made.map(\.bytes) + real.compactMap { try? systemFile($0) }
  }()

  @Test("never trap, take no more memory than their bytes can mean, and agree with themselves", arguments: 0..<4)
  func damage(part: Int) {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed, part: part)
    var usable = 0
    for _ in 0..<Self.filesOfPart {
      guard let original = Self.originals.randomElement(using: &random) else { return }
      let file = Self.damaged(original, &random)
      guard let rules = try? ZoneRules(file) else { continue }
      usable += 1
      #expect(rules.changes.count * 5 <= file.count, "seed \(seed)")
      if let moment = Self.contradiction(in: rules, &random) {
        Issue.record("at \(moment) of \(file), seed \(seed), part \(part)")
      }
    }
    #expect((1000..<Self.filesOfPart).contains(usable), "seed \(seed)")
  }

  /// One to four damages of any kind.
  private static func damaged(_ original: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var file = original
    for _ in 0..<Int.random(in: 1...4, using: &random) where !file.isEmpty {
      let position = Int.random(in: file.indices, using: &random)
      let end = min(file.count, position + Int.random(in: 1...12, using: &random))
      switch Int.random(in: 0..<8, using: &random) {
      case 0: file[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1: file[position] = .random(in: .min ... .max, using: &random)
      case 2: file.replaceSubrange(position..<end, with: repeatElement(extreme(&random), count: end - position))
      case 3: file.removeSubrange(position..<end)
      case 4: file.insert(contentsOf: file[position..<end], at: Int.random(in: 0...file.count, using: &random))
      case 5: file.removeLast(file.count - position)
      // Digits, signs and separators of a footer.
      default: file[file.count - 1 - position % min(file.count, 40)] = footerByte(&random)
      }
    }
    return file
  }

  private static func extreme(_ random: inout SeededGenerator) -> UInt8 {
    [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
  }

  private static func footerByte(_ random: inout SeededGenerator) -> UInt8 {
    "0123456789+-:/,.JM<>\n".utf8.randomElement(using: &random) ?? 0
  }

  /// A moment at which the next change is not what the offsets around it say.
  private static func contradiction(in rules: ZoneRules, _ random: inout SeededGenerator) -> Int64? {
    let near = rules.changes.randomElement(using: &random)?.at ?? 0
    let moments = [.min, .max, near, near == .min ? near : near - 1, .random(in: 0...4_133_980_800, using: &random)]
    return moments.first { moment in
      let offset = rules.offset(at: moment)
      guard TZifReader.offsets.contains(offset) else { return true }
      guard let next = rules.nextChange(after: moment) else { return false }
      return next.at <= moment || next.offset == offset || rules.offset(at: next.at) != next.offset
        || rules.offset(at: next.at - 1) != offset
    }
  }
}

/// A TZif file made by hand. Numbers of the header may be overwritten with ones that lie.
struct SampleFile {
  /// The counts of a header, in their order.
  enum Count: Int, CaseIterable {
    case utIndicators, standardIndicators, leapSeconds, transitions, types, designationBytes
  }

  /// NUL or an ASCII digit.
  var version: UInt8 = UInt8(ascii: "2")
  var transitions: [(at: Int64, type: UInt8)] = []
  var offsets: [Int32] = [3600]
  var designations: [UInt8] = Array("LMT\0".utf8)
  var indicators = 0
  var footer = "\n\n"
  /// Of the header that counts: the second one in files with two.
  var lies: [Count: UInt32] = [:]

  var bytes: [UInt8] {
    if version == 0 { return firstBlock }
    return Self(version: version).firstBlock + header + block(timeBytes: 8) + Array(footer.utf8)
  }

  /// Header and block with 32-bit times. Without transitions it is what `zic` writes before the second block.
  var firstBlock: [UInt8] { header + block(timeBytes: 4) }

  /// Where the second header of a file begins.
  static let stubBytes = SampleFile().firstBlock.count

  private var header: [UInt8] {
    let truth = [indicators, indicators, 0, transitions.count, offsets.count, designations.count].map(UInt32.init)
    let counts = Count.allCases.map { lies[$0] ?? truth[$0.rawValue] }
    return Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15) + counts.flatMap { bigEndian($0) }
  }

  private func block(timeBytes: Int) -> [UInt8] {
    var block: [UInt8] = []
    for transition in transitions { block += bigEndian(transition.at).suffix(timeBytes) }
    block += transitions.map(\.type)
    for offset in offsets { block += bigEndian(offset) + [0, 0] }
    return block + designations + [UInt8](repeating: 0, count: 2 * indicators)
  }
}

func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
  withUnsafeBytes(of: number.bigEndian) { Array($0) }
}

/// Two changes by table, then a rule of the northern hemisphere.
let northern = SampleFile(
  transitions: [(-1_000, 1), (1_000, 0), (1_000_000_000, 1)], offsets: [3600, 7200],
  footer: "\nCET-1CEST,M3.5.0,M10.5.0/3\n")

/// The same changes without a rule.
let tableOnly = SampleFile(transitions: northern.transitions, offsets: northern.offsets)

/// With 32-bit times.
let firstVersion = SampleFile(version: 0, transitions: northern.transitions, offsets: northern.offsets)

/// A file of this machine.
func systemFile(_ name: String) throws -> [UInt8] {
  Array(try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/" + name)))
}

/// The Unix time of a moment such as `2026-03-29T01:00:00Z`.
func unix(_ text: String) throws -> Int64 {
  Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970)
}
