import PushStore
import Testing

@testable import Operations

@Suite("Judgements about Live Activities")
struct LiveActivityJudgementTests {
  @Test("a type without a fault is named, one with a fault fails")
  func types() {
    #expect(ActivityTypeCheck.judge([ExaminedActivityType(name: "Run")]).map(\.line) == ["ok    activity types: Run"])
    let faulty = ActivityTypeCheck.judge([
      ExaminedActivityType(name: "Run"), ExaminedActivityType(name: "Meal", fault: "state needs the field a"),
    ])
    #expect(faulty.map(\.verdict) == [.failure] && faulty[0].found == "Meal: state needs the field a")
  }
}
