import Testing

@testable import Settings

@Suite("Setting keys")
struct SettingKeyTests {
  @Test("every key is nearest to itself and to itself with one letter wrong", arguments: SettingKey.allCases)
  func nearest(key: SettingKey) {
    #expect(SettingKey.nearest(to: key.rawValue) == key)
    #expect(SettingKey.nearest(to: key.rawValue + "X") == key)
    #expect(SettingKey.nearest(to: String(key.rawValue.dropFirst())) == key)
  }

  @Test("even a name like none of them gets an answer")
  func farAway() {
    #expect(!SettingKey.nearest(to: "").rawValue.isEmpty)
  }
}
