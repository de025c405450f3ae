import Testing

@testable import Postgres

@Suite("Connection strings")
struct ConnectionParametersTests {
  private func parameters(_ conninfo: String) throws -> ConnectionParameters {
    try ConnectionParameters(PostgresConfiguration(conninfo: conninfo))
  }

  @Test("each host is a target; one port serves all of them")
  func targets() throws {
    #expect(
      try parameters("host=a,/run,c port=5").targets == [
        ConnectionTarget(host: "a", address: "", port: "5"), ConnectionTarget(host: "/run", address: "", port: "5"),
        ConnectionTarget(host: "c", address: "", port: "5"),
      ])
    #expect(
      try parameters("postgresql://a:1,b:2/d").targets == [
        ConnectionTarget(host: "a", address: "", port: "1"), ConnectionTarget(host: "b", address: "", port: "2"),
      ])
  }

  @Test("only names need resolving: no path, no abstract socket, no host with an address")
  func resolution() throws {
    #expect(try parameters("host=a,/run,@x").targets.map(\.needsResolution) == [true, false, false])
    #expect(try parameters("host=a hostaddr=::1").targets.map(\.needsResolution) == [false])
  }

  @Test("each host is tried with its own address and port")
  func single() async throws {
    var two = try parameters("host=127.0.0.1,/run port=1,2")
    try await two.resolve()
    #expect(
      two.targets.map(ConnectionParameters.keywords(of:)) == [
        ["host": "127.0.0.1", "hostaddr": "127.0.0.1", "port": "1"], ["host": "/run", "port": "2"],
      ])
    #expect(two.keywords["host"] == nil && two.keywords["port"] == nil)
    #expect(two.targets.map(\.description) == ["127.0.0.1:1", "/run:2"])
  }

  @Test("without a host libpq's defaults stand")
  func noHost() throws {
    let parameters = try parameters("dbname=d port=7")
    #expect(parameters.targets.isEmpty)
    #expect(parameters.keywords["port"] == "7")
  }

  @Test("the string's own name and options win over the configuration's")
  func precedence() throws {
    let keywords = try parameters("application_name=mine options='-c search_path=x'").keywords
    #expect(keywords["application_name"] == "mine")
    #expect(keywords["options"]?.hasSuffix("-c search_path=x") == true)
  }
}
