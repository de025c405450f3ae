import Foundation
import TestProcesses
import Testing

@testable import tacet

@Suite("Variables of the supervisor")
struct SupervisorTests {
  private static let process: pid_t = 4711

  @Test(
    "sockets are those of this process, by their names",
    arguments: [
      (["LISTEN_PID": "4711", "LISTEN_FDS": "1"], 3, nil),
      (["LISTEN_PID": "4711", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "tacet.socket"], 3, nil),
      (["LISTEN_PID": "4711", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "http:metrics"], 3, 4),
      (["LISTEN_PID": "4711", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "metrics:http"], 4, 3),
      (["LISTEN_PID": "4711", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "metrics"], nil, 3),
      (["LISTEN_PID": "4712", "LISTEN_FDS": "1"], nil, nil), (["LISTEN_FDS": "1"], nil, nil),
      (["LISTEN_PID": "4711"], nil, nil), (["LISTEN_PID": "4711", "LISTEN_FDS": "0"], nil, nil),
      (["LISTEN_PID": "4711", "LISTEN_FDS": "-1"], nil, nil), (["LISTEN_PID": "4711", "LISTEN_FDS": "17"], nil, nil),
      (["LISTEN_PID": "4711", "LISTEN_FDS": "many"], nil, nil), ([:], nil, nil),
    ] as [([String: String], Int32?, Int32?)])
  func sockets(_ variables: [String: String], _ interface: Int32?, _ metrics: Int32?) {
    let supervisor = Supervisor(environment: variables, processID: Self.process)
    #expect(supervisor.interfaceSocket == interface)
    #expect(supervisor.metricsSocket == metrics)
  }

  @Test("messages reach a path and a name in the abstract namespace", arguments: [true, false])
  func messages(_ isAbstract: Bool) throws {
    let inbox = try NotifySocket(isAbstract: isAbstract)
    let supervisor = Supervisor(environment: ["NOTIFY_SOCKET": inbox.name])
    supervisor.tellReady("serving on 127.0.0.1:1")
    #expect(inbox.next() == "READY=1\nSTATUS=serving on 127.0.0.1:1")
    supervisor.tellReloading()
    let reloading = try #require(inbox.next())
    #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
    supervisor.tellStopping()
    #expect(inbox.next()?.hasPrefix("STOPPING=1\n") == true)
  }

  @Test(
    "an address that cannot be one, and an inbox that is full, are no fault",
    arguments: ["", "relative", String(repeating: "/", count: 200), "/nowhere/notify"])
  func unreachable(_ name: String) {
    Supervisor(environment: ["NOTIFY_SOCKET": name]).tellReady("")
  }

  @Test("a full inbox does not hold up the service")
  func full() throws {
    let inbox = try NotifySocket(isAbstract: true)
    let supervisor = Supervisor(environment: ["NOTIFY_SOCKET": inbox.name])
    for _ in 0..<5_000 { supervisor.tellStopping() }
    #expect(inbox.next()?.hasPrefix("STOPPING=1") == true)
  }
}
