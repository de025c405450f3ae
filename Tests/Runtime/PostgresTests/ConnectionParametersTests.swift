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

  @Test(
    "a usable string has no fault",
    arguments: [
      "postgresql://u:p@a,b:5433/db?target_session_attrs=read-write", "postgres://localhost", "host=/run user=tacet",
      "service=tacet", "postgresql:///db?host=/tmp", "postgresql://u@[::1]:5/db", "host=@x port=5,6",
      "postgresql://u:p%40s%2Fs%25@db.example/app?sslmode=require", "host=db password='p@s/s #%'",
      "postgresql://u:p#s@h/db",
    ])
  func usable(conninfo: String) {
    #expect(PostgresConfiguration.fault(of: conninfo) == nil)
  }

  @Test(
    "a string that libpq refuses, now or when it connects, is a fault in which nothing of it stands",
    arguments: [
      ("postgresql://u:hunter2@h/d?pgbouncer=true", "libpq"),
      ("postgresql://u:hunter2@h/d?sslmode=no-verify", "sslmode"),
      ("host=h password=hunter2 x", "libpq"), ("host=h password='hunter2", "libpq"),
      ("host=h hunter2=x", "libpq"), ("postgresql://u:hunter2@h:99999/d", "port"),
      ("postgresql://u:p@hunter2@h/d", "host"),
      ("postgresql://u:hunter2/x@h/d", "port"), ("postgresql://u:12/hunter2@h/d", "database"),
      ("host=hunter2# user=u", "host"),
      ("postgresql://u:hunter2@h/d?target_session_attrs=any-one", "target_session_attrs"),
      ("postgresql://u:hunter2@h/d?channel_binding=yes", "channel_binding"), ("postgresql://u:hunter2%@h/d", "libpq"),
    ])
  func unusable(conninfo: String, named: String) throws {
    let fault = try #require(PostgresConfiguration.fault(of: conninfo))
    #expect(fault.contains(named) && !fault.contains("hunter2"))
  }

  @Test("a password of any characters in a URI either stays whole, or the string is refused")
  func passwords() throws {
    let marks = Array("@#/?%:[]&=' \"\\,;+")
    for start in ["pw", "12"] {
      for one in marks {
        for other in marks {
          let password = "\(start)\(one)x\(other)z"
          let conninfo = "postgresql://u:\(password)@db.example:5432/app"
          guard PostgresConfiguration.fault(of: conninfo) == nil else { continue }
          let parameters = try parameters(conninfo)
          #expect(parameters.keywords["password"] == password, "\(conninfo)")
          #expect(
            parameters.targets == [ConnectionTarget(host: "db.example", address: "", port: "5432")], "\(conninfo)")
        }
      }
    }
  }
}
