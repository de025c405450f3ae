import APNSCore
import Testing

@Suite("Finite numbers")
struct FiniteNumberTests {
  @Test(
    "every finite number is taken as it is",
    arguments: [0, -0.0, 0.1, -1.5, .leastNonzeroMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude])
  func taken(value: Double) throws {
    #expect(try FiniteNumber(value).value == value)
  }

  @Test("what JSON cannot write is refused", arguments: [Double.infinity, -.infinity, .nan, .signalingNaN])
  func refused(value: Double) throws {
    let error = try #require(throws: PushRequestError.self) { try FiniteNumber(value) }
    #expect(error.code == .numberNotFinite)
  }
}
