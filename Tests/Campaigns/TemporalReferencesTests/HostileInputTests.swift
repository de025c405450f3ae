import Foundation
import TemporalReferences
import TestRandomness
import Testing

@Suite("Hostile texts")
struct HostileInputTests {
  /// Texts that repeat one piece; each is the beginning of something, or something that never ends.
  static let pieces = [
    "1", "1/", "1/1 ", "2026-03-", "12:", "1,000", "a", "a.", "p.m.", "next ", "next week on ", "in two ", "the ",
    "March 1", "March ", "1 of ",
    "a week from ", "from 3 to ", "Monday to ", "meeting tomorrow ", "not ", "if ",
    "and ",
    "tomorrow, ", "cancelled ", "exam cancelled. ", "exam tomorrow. ", "it's ", ". ", "\u{301}", "e\u{301}", "👩‍👩‍👧‍👦",
    "🎉 ",
    "'", "-", "\u{0}", "\u{FEFF}", "ß", "１", "\r\n", " ",
  ]

  /// A megabyte. In debug builds, which are fifty times slower, some kilobytes: several sentences of the longest kind,
  /// all that a superlinear step could grow with.
  private static var bytes: Int {
    #if DEBUG
    return 1 << 13
    #else
    return 1 << 20
    #endif
  }

  @Test(
    "a text four times as long takes much less than sixteen times as long, and yields a bounded number",
    arguments: HostileInputTests.pieces)
  func linear(piece: String) throws {
    let setting = try Setting("2026-03-11T10:00 America/New_York mdy")
    let small = Self.text(of: piece, bytes: Self.bytes / 4)
    let large = Self.text(of: piece, bytes: Self.bytes)
    #expect(setting.references(in: large).count <= 64)
    // Processor time of this thread, so that what else runs does not count; the best of several, as caches do.
    let (fast, slow) = (Self.best(of: 3, setting, small), Self.best(of: 3, setting, large))
    print("\(Self.bytes) bytes of \(piece.debugDescription): \((slow * 1000).rounded() / 1000) s")
    // What grew with the square would take sixteen times as long; between the two lies what a shared processor adds.
    #expect(slow <= 10 * fast + 0.005, "\(fast) s, \(slow) s")
  }

  @Test("a text of a megabyte is read to its end", arguments: ["x", "9", "\u{301}"])
  func longText(piece: String) throws {
    let setting = try Setting("2026-03-11T10:00 America/New_York mdy")
    let references = setting.references(in: Self.text(of: piece, bytes: 1 << 20) + ". My exam is on Friday.")
    #expect(references.map(\.event) == ["exam"])
  }

  private static func text(of piece: String, bytes: Int) -> String {
    String(repeating: piece, count: bytes / piece.utf8.count)
  }

  private static func best(of rounds: Int, _ setting: Setting, _ text: String) -> Double {
    (0..<rounds).map { _ in
      let start = threadTime()
      _ = setting.references(in: text)
      return threadTime() - start
    }.min() ?? 0
  }

  private static func threadTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

@Suite("Mutated texts")
struct MutationTests {
  /// As many as `TACET_MUTATIONS` says; some thousands are enough for every run.
  private static let mutations =
    ProcessInfo.processInfo.environment["TACET_MUTATIONS"].flatMap { Int($0) } ?? 8000

  @Test("no mutation of the phrases traps, and no end is before its start", arguments: ["english", "german"])
  func mutations(of name: String) throws {
    let files =
      name == "german" ? ["families-german.txt"] : ["families.txt", "families-blind.txt", "families-chat.txt"]
    let lines = try files.flatMap { try CaseTable($0).lines }
    let finder = TemporalReferenceFinder(language: name == "german" ? .german : .english)
    let pieces = lines.flatMap { $0.fields[1].split(separator: " ") }
    var random = SeededGenerator(seed: 26)
    var references = 0
    for _ in 0..<Self.mutations / 2 {
      guard let line = lines.randomElement(using: &random) else { continue }
      let text = Self.mutated(line.fields[1], with: pieces, &random)
      let reading = finder.reading(
        of: text, writtenAt: line.setting.writtenAt, zone: line.setting.rules, dateOrder: line.setting.order)
      references += reading.references.count
      for reference in reading.references where reference.end < reference.start {
        Issue.record("\(text): \(reference)")
      }
    }
    #expect(references > Self.mutations / 10)
  }

  /// A text with one to three pieces of it left out, doubled, swapped, cut, or replaced by another text's.
  private static func mutated(_ text: String, with others: [Substring], _ random: inout SeededGenerator) -> String {
    var words = text.split(separator: " ")
    for _ in 0..<Int.random(in: 1...3, using: &random) where !words.isEmpty {
      let index = Int.random(in: words.indices, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: words.remove(at: index)
      case 1: words.insert(words[index], at: index)
      case 2: words.swapAt(index, Int.random(in: words.indices, using: &random))
      case 3: words[index] = words[index].dropLast()
      case 4: words[index] = others.randomElement(using: &random) ?? ""
      default:
        words.insert(
          ["13", "99", "31", "-", "@", "\"", "to", "0", "2400", "."].randomElement(using: &random) ?? "", at: index)
      }
    }
    return words.joined(separator: Bool.random(using: &random) ? " " : "")
  }
}
