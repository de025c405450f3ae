import Testing

@testable import BenchReports

@Suite("Numbers as people read them")
struct DecimalsTests {
  @Test(
    "three digits that count",
    arguments: [
      (0, "0.000"), (0.01234, "0.012"), (0.9996, "1.000"), (1, "1.00"), (1.005, "1.00"), (9.876, "9.88"), (10, "10.0"),
      (99.94, "99.9"), (100, "100"), (12345.6, "12346"), (-1.5, "-1.50"), (-0.0001, "0.000"), (.infinity, "inf"),
    ] as [(Double, String)])
  func measured(value: Double, text: String) {
    #expect(Decimals.measured(value) == text)
  }

  @Test("bounds as they were written", arguments: [(1, "1"), (3.5, "3.5"), (200_000, "200000"), (0, "0"), (-2, "-2")])
  func plain(value: Double, text: String) {
    #expect(Decimals.plain(value) == text)
  }
}
