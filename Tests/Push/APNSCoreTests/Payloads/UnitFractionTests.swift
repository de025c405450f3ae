import APNSCore
import Testing

@Suite("Fractions from 0 to 1")
struct UnitFractionTests {
  @Test("both ends and all between are taken", arguments: [0, -0.0, .leastNonzeroMagnitude, 0.5, 1.0.nextDown, 1])
  func taken(value: Double) throws {
    #expect(try UnitFraction(value).value == value)
  }

  @Test(
    "what lies beyond is refused",
    arguments: [-Double.leastNonzeroMagnitude, 1.0.nextUp, -1, 2, .infinity, -.infinity, .nan])
  func refused(value: Double) throws {
    let error = try #require(throws: PushRequestError.self) { try UnitFraction(value) }
    #expect(error.code == .fractionOutOfRange)
  }

  @Test("the ends have names")
  func ends() throws {
    #expect(try UnitFraction.zero == UnitFraction(0))
    #expect(try UnitFraction.one == UnitFraction(1))
  }
}
