import PushRules
import Testing

@Suite("Decision reasons")
struct DecisionReasonTests {
  @Test("the raw values are those of the interface")
  func rawValues() {
    #expect(
      Set(DecisionReason.allCases.map(\.rawValue)) == [
        "user_viewing", "already_read", "no_tokens", "no_recipients", "muted", "quiet_hours", "deleted", "expired",
        "opted_out", "not_mentioned",
      ])
  }
}
