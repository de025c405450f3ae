import Testing

@testable import PushPipeline

@Suite("The retry policy")
struct RetryPolicyTests {
  private let policy = RetryPolicy()

  @Test(
    "the wait doubles from a second to a quarter of an hour; the draw takes its upper half",
    arguments: [
      (0, 1), (1, 2), (2, 4), (8, 256), (9, 512), (10, 900), (30, 900), (31, 900), (1000, 900), (Int.max, 900),
    ])
  func doubling(retries: Int, seconds: Int) {
    let whole = Duration.seconds(seconds)
    #expect(policy.wait(afterRetries: retries, minimum: .zero, draw: 0) == whole / 2)
    let longest = policy.wait(afterRetries: retries, minimum: .zero, draw: 1.0.nextDown)
    #expect(longest <= whole)
    #expect(longest > whole * 0.999)
  }

  @Test(
    "what APNs asks for doubles as well, and the draw adds up to a half",
    arguments: [(0, 60), (1, 120), (2, 240), (3, 480), (4, 900), (5, 900)])
  func asked(retries: Int, seconds: Int) {
    let whole = Duration.seconds(seconds)
    #expect(policy.wait(afterRetries: retries, minimum: .seconds(60), draw: 0) == whole)
    let longest = policy.wait(afterRetries: retries, minimum: .seconds(60), draw: 1.0.nextDown)
    #expect(longest <= whole * 1.5)
    #expect(longest > whole * 1.499)
  }

  @Test("retries below zero count as none", arguments: [-1, Int.min])
  func tooFew(retries: Int) {
    #expect(policy.wait(afterRetries: retries, minimum: .zero, draw: 0) == .milliseconds(500))
  }

  @Test(
    "what APNs asks for is never undercut, even above the ceiling",
    arguments: [(1, 1000), (1000, 1000), (1001, 1001), (900_001, 900_001)])
  func minimum(asked: Int, milliseconds: Int) {
    let wait = policy.wait(afterRetries: 0, minimum: .milliseconds(asked), draw: 0)
    #expect(wait == .milliseconds(milliseconds))
  }

  @Test("a base above the ceiling is cut to it")
  func ceiling() {
    var policy = RetryPolicy()
    policy.base = .seconds(1200)
    #expect(policy.wait(afterRetries: 0, minimum: .zero, draw: 0) == .seconds(450))
  }
}

@Suite("The random part of waits")
struct JitterTests {
  @Test("is spread evenly over what it is drawn from")
  func even() {
    var jitter = Jitter()
    var tenths = [Int](repeating: 0, count: 10)
    for _ in 0..<10_000 { tenths[Int(jitter.draw() * 10)] += 1 }
    // Ten standard deviations to either side.
    #expect(tenths.allSatisfy { (700...1300).contains($0) })
  }

  @Test("differs between two of a process")
  func differs() {
    var (one, other) = (Jitter(), Jitter())
    #expect((0..<4).map { _ in one.next() } != (0..<4).map { _ in other.next() })
  }
}
