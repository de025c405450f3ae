import Campaigns
import Testing

@Suite("Slot times")
struct SlotTimeTests {
  @Test(
    "four digits of a day are a time",
    arguments: [("0000", 0, "00:00"), ("0009", 9, "00:09"), ("0800", 480, "08:00"), ("2359", 1_439, "23:59")])
  func read(text: String, minutes: Int, clockText: String) throws {
    let slot = try #require(SlotTime(text))
    #expect(slot.minutes == minutes)
    #expect(slot.clockText == clockText)
    #expect(slot.description == text)
  }

  @Test(
    "other texts are refused",
    arguments: [
      "", "800", "08000", "2400", "0860", "2360", "08:00", " 800", "0800 ", "+800", "-800", "0x10", "٠٨٠٠", "０８００",
      "08a0",
      "8am", "080\u{0}", "9999",
    ])
  func refused(text: String) {
    #expect(SlotTime(text) == nil)
  }

  @Test("all minutes of a day are read as they are written")
  func all() throws {
    let times = (0..<2_400).compactMap { SlotTime(String(String(10_000 + $0).dropFirst())) }
    #expect(times.map(\.minutes) == Array(0..<1_440))
    #expect(times == times.sorted())
  }
}
