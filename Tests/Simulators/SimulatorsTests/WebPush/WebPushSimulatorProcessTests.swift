import Foundation
import TestProcesses
import Testing

@Suite("The stand-in as a program", .timeLimit(.minutes(1)))
struct WebPushSimulatorProcessTests {
  private struct Addresses: Decodable {
    let push, control: String
  }

  @Test("it says where it listens, takes a subscription and a push, and stops on SIGTERM")
  func run() async throws {
    let folder = try makeTemporaryFolder("web-push")
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let pipe = try ClosedPipe()
    let program = try ChildProcess(
      [
        builtProgram("tacet-simulate"), "web-push", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--ca-out",
        folder + "/ca.pem",
      ], output: pipe.writing)
    close(pipe.writing)
    let reading = FileHandle(fileDescriptor: pipe.reading, closeOnDealloc: true)
    let line = try await onOwnThread { reading.availableData }
    let addresses = try JSONDecoder().decode(Addresses.self, from: line)
    let output = try await onOwnThread { [folder] in
      let curl = ["curl", "-s", "--max-time", "20", "--cacert", folder + "/ca.pem"]
      _ = try TestProcesses.run(curl + ["\(addresses.control)/subscriptions", "-d", #"{"id":"sub-ok"}"#])
      return try TestProcesses.run(
        curl + ["\(addresses.push)/push/sub-ok", "-X", "POST", "-H", "TTL: 60", "-w", "%{http_code}"])
    }
    #expect(output == "201")
    kill(program.id, SIGTERM)
    #expect(try await onOwnThread { program.wait() } == 0)
  }

  @Test(
    "options that do not fit together are refused",
    arguments: [["--certificate", "a"], ["--face", "x"], ["--records", "0"]])
  func refused(_ options: [String]) async throws {
    let program = try ChildProcess([builtProgram("tacet-simulate"), "web-push"] + options)
    #expect(try await onOwnThread { program.wait() } != 0)
  }
}
