import Testing

@testable import Settings

private enum Fruit: String, CaseIterable { case apple, pear }

@Suite("Numbers and switches")
struct SettingParserTests {
  @Test("whole numbers are taken up to both ends", arguments: [("1", 1), ("256", 256), ("007", 7), ("+5", 5)])
  func integers(text: String, value: Int) throws {
    #expect(try SettingParser.integer(in: 1...256)(text) == value)
  }

  @Test(
    "anything else is refused",
    arguments: ["0", "257", "-1", "1.5", "1e2", "", " 1", "1 ", "0x10", "٣", "99999999999999999999"])
  func notIntegers(text: String) {
    #expect(throws: UnusableValue.self) { try SettingParser.integer(in: 1...256)(text) }
  }

  @Test(
    "seconds may have a fraction, and take both ends",
    arguments: [
      ("0", 0), ("60", 60_000), ("0.5", 500), ("1.05", 1_050), ("1.005", 1_005), ("3600", 3_600_000),
      ("3600.000", 3_600_000),
    ])
  func seconds(text: String, milliseconds: Int) throws {
    #expect(try SettingParser.seconds(in: 0...3600)(text) == .milliseconds(milliseconds))
  }

  @Test(
    "what is no number of seconds is refused",
    arguments: ["", ".", "1.", ".5", "-1", "+1", "1.0005", "1.2.3", "1e2", "60s", "nan", "3600.001", "9999999999", "٣"])
  func notSeconds(text: String) {
    #expect(throws: UnusableValue.self) { try SettingParser.seconds(in: 0...3600)(text) }
  }

  @Test(
    "switches have many names",
    arguments: [
      ("true", true), ("YES", true), ("on", true), ("1", true), ("False", false), ("no", false), ("off", false),
      ("0", false),
    ])
  func booleans(text: String, value: Bool) throws {
    #expect(try SettingParser.boolean(text) == value)
  }

  @Test("a choice is taken in any case, and its alternatives are listed when it is none")
  func choices() throws {
    #expect(try SettingParser<Fruit>.choice("Pear") == .pear)
    let error = try #require(throws: UnusableValue.self) { try SettingParser<Fruit>.choice("plum") }
    #expect(error.expectation == "apple, pear")
  }
}
