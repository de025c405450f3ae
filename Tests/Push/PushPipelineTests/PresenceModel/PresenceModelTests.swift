import Foundation
import Testing

@Suite("The presence model", .serialized)
struct PresenceModelTests {
  @Test(
    "random timelines: nobody is pushed while looking, nobody is left out, each push comes once, in time, on the books")
  func timelines() async throws {
    let model = PresenceModel.fromEnvironment(timelines: 2000)
    let report = try await model.run()
    print("presence model: seed \(model.seed), \(report.tally)")
    for story in report.stories { print("seed \(model.seed):\n\(try await model.shrunk(story).text)\n") }
    #expect(report.tally.violations == [:])
    #expect(report.troubles == [])
    #expect(report.tally.pushes > 0 && report.tally.holds > 0)
  }

  @Test("a broken product breaks the property that it should", arguments: PresenceMutant.all)
  func mutants(_ mutant: PresenceMutant) async throws {
    let report = try await mutant.apply(to: PresenceModel(seed: 1, timelines: 60, steps: 14)).run()
    print("presence model: \(mutant): \(report.tally)")
    #expect(report.tally.violations[mutant.property, default: 0] > 0)
  }

  @Test("a timeline that broke a property is shown with the actions that are needed for it")
  func shrinking() async throws {
    let model = PresenceMutant.shortWindow.apply(to: PresenceModel(seed: 1, timelines: 60, steps: 14))
    let story = try #require(try await model.run().stories.first)
    let short = try await model.shrunk(story)
    #expect(short.property == 1)
    #expect((2...3).contains(short.plan.actions.count))
    #expect(short.text.contains("last_seen = now()") || short.text.contains("reads"))
    #expect(short.text.contains("VIOLATION"))
  }
}
