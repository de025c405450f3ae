import TestRandomness
import Testing

@testable import TemporalReferences

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
