import CampaignRules
import FoundationEssentials
import Testing

private func pool(_ count: Int) throws -> TemplatePool {
  TemplatePool(try (0..<count).map { try CampaignTemplate(title: "Title", body: "Body \($0) {event}") })
}

private func user(_ number: UInt8) -> UUID {
  UUID(uuid: (number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, number))
}

private let values = ["event": "exam"]

@Suite("The rotation of templates")
struct TemplatePoolTests {
  @Test("nobody gets the same text two days in a row, and everybody gets all of them in turn", arguments: 1...5)
  func rotation(count: Int) throws {
    let pool = try pool(count)
    for number in UInt8(0)..<10 {
      let texts = (-200..<200).compactMap { pool.text(for: user(number), on: $0, with: values) }
      #expect(texts.count == 400)
      #expect(zip(texts, texts.dropFirst()).allSatisfy { ($0 == $1) == (count == 1) })
      let rounds = stride(from: 0, through: texts.count - count, by: count).map { texts[$0..<($0 + count)] }
      #expect(rounds.allSatisfy { Set($0).count == count })
    }
  }

  @Test("the same question has the same answer, and users begin at different places")
  func determinism() throws {
    let pool = try pool(5)
    let bodies = (UInt8(0)..<50).map { pool.text(for: user($0), on: 20_000, with: values)?.body }
    #expect(bodies == (UInt8(0)..<50).map { pool.text(for: user($0), on: 20_000, with: values)?.body })
    #expect(Set(bodies).count == 5)
  }

  @Test("only templates that can be filled take turns")
  func filled() throws {
    let theme = try CampaignTemplate(title: "Title", body: "On {theme}")
    let mixed = TemplatePool(try pool(2).templates + [theme])
    for day in 0..<400 {
      #expect(mixed.text(for: user(1), on: day, with: ["theme": "rest"])?.body == "On rest")
      let text = mixed.text(for: user(1), on: day, with: values)
      #expect(text?.body.hasPrefix("Body") == true)
      #expect(text != mixed.text(for: user(1), on: day + 1, with: values))
    }
    #expect(mixed.text(for: user(1), on: 0, with: [:]) == nil)
    #expect(TemplatePool([]).text(for: user(1), on: 0, with: values) == nil)
  }

  @Test("a template that is there twice takes one turn")
  func duplicates() throws {
    let doubled = TemplatePool(try pool(2).templates + pool(3).templates)
    #expect(try doubled == pool(3))
  }

  @Test("no day is too far", arguments: [Int.min, -1, Int.max])
  func extremeDays(day: Int) throws {
    #expect(try pool(3).text(for: user(1), on: day, with: values) != nil)
  }
}
