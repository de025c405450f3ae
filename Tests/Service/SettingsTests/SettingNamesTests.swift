import Testing

@testable import Settings

@Suite("Names of settings")
struct SettingNamesTests {
  @Test("every key is nearest to itself and to itself with one letter wrong", arguments: SettingNames.all)
  func nearest(key: String) {
    #expect(SettingNames.nearest(to: key) == key)
    #expect(SettingNames.nearest(to: key + "X") == key)
    #expect(SettingNames.nearest(to: String(key.dropFirst())) == key)
  }

  @Test("even a name like none of them gets an answer")
  func farAway() {
    #expect(!SettingNames.nearest(to: "").isEmpty)
  }
}
