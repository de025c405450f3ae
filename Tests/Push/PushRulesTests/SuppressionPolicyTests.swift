import PushRules
import Testing

@Suite("The suppression policy")
struct SuppressionPolicyTests {
  @Test("the window is a minute and a message lives an hour unless somebody says otherwise")
  func defaults() {
    #expect(SuppressionPolicy().window == .seconds(60))
    #expect(SuppressionPolicy().timeToLive == .seconds(3600))
  }
}
