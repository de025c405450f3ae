import PushRules
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
