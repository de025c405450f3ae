import Testing

@testable import tacet_bench

@Suite("A device's key")
struct DeviceKeyTests {
  @Test("is the first sixteen digits of its token, whatever their case")
  func key() throws {
    let key = try #require(DeviceKey(token: "00ff00000000Abcd" + "1234"))
    #expect(key.bits == 0x00ff_0000_0000_abcd)
    #expect(DeviceKey(token: "00FF00000000aBCD") == key)
  }

  @Test(
    "needs sixteen hexadecimal digits",
    arguments: ["", "00ff", "00ff00000000abc", "00ff00000000abcg", "-0ff00000000abcx"])
  func refused(token: String) {
    #expect(DeviceKey(token: token) == nil)
  }
}
