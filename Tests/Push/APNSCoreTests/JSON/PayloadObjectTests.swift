import APNSCore
import Testing

@Suite("Payload objects")
struct PayloadObjectTests {
  @Test("members keep the order in which they came, and a key its place")
  func order() {
    var object: PayloadObject = ["z": 1, "a": 2, "z": 3]
    #expect(object.members.map(\.key) == ["z", "a"])
    #expect(object["z"] == 3)
    object["m"] = true
    object["a"] = nil
    object["gone"] = nil
    #expect(object.members.map(\.key) == ["z", "m"])
  }

  @Test("objects are equal when their bytes would be")
  func equality() {
    let one: PayloadObject = ["a": 1, "b": 2]
    #expect(one == ["a": 1, "b": 2])
    #expect(one != ["b": 2, "a": 1])
    #expect(one != ["a": 1])
    #expect(one != ["a": 1, "b": "2"])
  }
}
