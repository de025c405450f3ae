import Foundation
import TemporalReferences
import TestRandomness
import Testing

@Suite("Mutated texts")
struct MutationTests {
  /// As many as `TACET_MUTATIONS` says; some thousands are enough for every run.
  private static let mutations =
    ProcessInfo.processInfo.environment["TACET_MUTATIONS"].flatMap { Int($0) } ?? 20_000

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
      for reference in reading.references where reference.end < reference.start || reference.span.isEmpty {
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
