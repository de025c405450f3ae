import Testing

@testable import PushPipeline

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
