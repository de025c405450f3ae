import HTTPTypes
import Testing

@testable import API

@Suite("The wait preference")
struct WaitPreferenceTests {
  private static let standard = Duration.milliseconds(1000)

  private func preference(_ values: String...) -> WaitPreference {
    var fields = HTTPFields()
    for value in values { fields.append(HTTPField(name: .prefer, value: value)) }
    return WaitPreference(fields, default: Self.standard)
  }

  @Test(
    "a wish that can be met is met and confirmed",
    arguments: [
      ("wait=0", 0, "wait=0"), ("wait=1", 1, "wait=1"), ("wait=60", 60, "wait=60"), ("wait=059", 59, "wait=59"),
      ("WAIT = 7", 7, "wait=7"), ("foo, wait=5", 5, "wait=5"), ("wait=x, wait=5", 5, "wait=5"),
      ("wait=3, wait=9", 3, "wait=3"), ("\twait=4\t", 4, "wait=4"), ("wait=5; note=1", 5, "wait=5"),
      ("wait=\"6\"", 6, "wait=6"), ("respond-async", 0, "respond-async"), ("Respond-Async", 0, "respond-async"),
      ("handling=lenient, respond-async", 0, "respond-async"), ("respond-async; a=b", 0, "respond-async"),
    ])
  func met(value: String, seconds: Int, applied: String) {
    let preference = preference(value)
    #expect(preference.limit == .seconds(seconds))
    #expect(preference.applied == applied)
  }

  @Test("nobody waits longer than a minute, and the confirmation says so", arguments: ["wait=61", "wait=999999"])
  func clamped(value: String) {
    #expect(preference(value).limit == .seconds(60))
    #expect(preference(value).applied == "wait=60")
  }

  @Test(
    "what cannot be understood is ignored",
    arguments: [
      "", ",", "wait", "wait=", "wait=-1", "wait=1.5", "wait=+1", "wait=1000000", "wait=99999999999999999999",
      "wait=٣", "wait=1=2", "waiting=5", "async", "respond-async=no",
    ])
  func ignored(value: String) {
    #expect(preference(value).limit == Self.standard)
    #expect(preference(value).applied == nil)
  }

  @Test("no field is no wish")
  func absent() {
    #expect(preference().limit == Self.standard)
    #expect(preference().applied == nil)
  }

  @Test("several fields are one list")
  func severalFields() {
    #expect(preference("foo=1", "wait=8").limit == .seconds(8))
  }

  @Test("both wishes together: wait that long, then answer that it goes on (RFC 7240 section 4.3)")
  func both() {
    for list in ["respond-async, wait=10", "wait=10, respond-async"] {
      #expect(preference(list).limit == .seconds(10))
      #expect(preference(list).applied == "respond-async, wait=10")
    }
  }
}
