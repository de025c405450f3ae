import Testing

@testable import Operations

@Suite("Words of findings")
struct FindingWordsTests {
  @Test(
    "durations take the unit that fits, on both sides of each edge",
    arguments: [
      (Duration.zero, "0 ms"), (.seconds(-5), "0 ms"), (.milliseconds(999), "999 ms"), (.seconds(1), "1 s"),
      (.milliseconds(119_999), "119 s"), (.seconds(120), "2 min"), (.seconds(7199), "119 min"), (.seconds(7200), "2 h"),
      (.seconds(172_799), "47 h"), (.seconds(172_800), "2 days"),
    ])
  func durations(_ duration: Duration, _ words: String) {
    #expect(FindingWords.duration(duration) == words)
  }

  @Test("counts are of one or many, or at least the bound")
  func counts() {
    #expect(
      (0...4).map { FindingWords.count($0, of: 3, "row", "rows") } == [
        "0 rows", "1 row", "2 rows", "at least 3 rows", "at least 3 rows",
      ])
  }
}
