import APNSCore
import Testing

@Suite("Push priorities")
struct PushPriorityTests {
  @Test("the header value is the number in digits", arguments: zip(PushPriority.allCases, ["10", "5", "1"]))
  func headerValues(priority: PushPriority, value: String) {
    #expect(priority.headerValue == value)
    #expect(String(priority.rawValue) == value)
  }
}
