import Foundation
import Testing

@testable import TemporalReferences

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
