import PushPipeline
import Testing

@Suite("The retry policy")
struct RetryPolicyTests {
  private let policy = RetryPolicy()

  @Test(
    "the wait doubles from a second to five minutes; the draw takes its upper half",
    arguments: [
      (1, 1), (2, 2), (3, 4), (8, 128), (9, 256), (10, 300), (31, 300), (32, 300), (1000, 300), (Int.max, 300),
    ])
  func doubling(attempts: Int, seconds: Int) {
    let whole = Duration.seconds(seconds)
    #expect(policy.wait(afterAttempts: attempts, minimum: .zero, draw: 0) == whole / 2)
    let longest = policy.wait(afterAttempts: attempts, minimum: .zero, draw: 1.0.nextDown)
    #expect(longest <= whole)
    #expect(longest > whole * 0.999)
  }

  @Test("attempts below one count as the first", arguments: [0, -1, Int.min + 1])
  func tooFew(attempts: Int) {
    #expect(policy.wait(afterAttempts: attempts, minimum: .zero, draw: 0) == .milliseconds(500))
  }

  @Test(
    "what APNs asks for is never undercut, even above the ceiling",
    arguments: [(499, 500), (500, 500), (501, 501), (900_000, 900_000)])
  func minimum(asked: Int, milliseconds: Int) {
    let wait = policy.wait(afterAttempts: 1, minimum: .milliseconds(asked), draw: 0)
    #expect(wait == .milliseconds(milliseconds))
  }

  @Test("a base above the ceiling is cut to it")
  func ceiling() {
    var policy = RetryPolicy()
    policy.base = .seconds(600)
    #expect(policy.wait(afterAttempts: 1, minimum: .zero, draw: 0) == .seconds(150))
  }
}
