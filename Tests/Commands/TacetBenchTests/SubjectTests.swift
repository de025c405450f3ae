import Testing

@testable import tacet_bench

@Suite("A subject")
struct SubjectTests {
  @Test("is a name, a program and a connection string that may hold commas and equals signs")
  func taken() throws {
    let subject = try #require(Subject(argument: "tacet=/opt/a b/tacet,host=a,b dbname=x user=y"))
    #expect(subject.name == "tacet")
    #expect(subject.program == "/opt/a b/tacet")
    #expect(subject.conninfo == "host=a,b dbname=x user=y")
  }

  @Test(
    "is nothing less",
    arguments: [
      "", "tacet", "tacet=", "tacet=/opt/tacet", "tacet=/opt/tacet,", "tacet=,dbname=x", "=/opt/tacet,dbname=x",
    ])
  func refused(text: String) {
    #expect(Subject(argument: text) == nil)
  }

  @Test(
    "a named value is cut at the first equals sign",
    arguments: [("a=b", "a", "b"), ("a==", "a", "="), ("APNS_URL=https://h?x=y", "APNS_URL", "https://h?x=y")])
  func named(text: String, name: String, value: String) {
    let named = NamedValue(argument: text)
    #expect(named?.name == name)
    #expect(named?.value == value)
  }

  @Test("a named value has both", arguments: ["", "a", "a=", "=b", "="])
  func unnamed(text: String) {
    #expect(NamedValue(argument: text) == nil)
  }
}
