import HTTPServing
import HTTPTypes
import Logging
import Reactors
import Synchronization
import Testing

@testable import PushAPI

@Suite("The gate against guesses")
struct FailureGateTests {
  @Test(
    "after ten failures a peer is turned away, those over a Unix socket never; the log has one line of either",
    arguments: [("192.0.2.1", "192.0.2.1", true), ("2001:db8::1", "2001:db8::1", true), (nil, "unix", false)])
  func failures(_ address: String?, _ name: String, _ isTurnedAway: Bool) throws {
    let lines = WarningLines()
    let gate = FailureGate(logger: Logger(label: "tests") { _ in lines })
    let client = try address.map { try #require(IPAddress($0)) }
    for _ in 0..<9 { gate.noteFailure(of: client) }
    #expect(gate.refusal(of: client) == nil)
    gate.noteFailure(of: client)
    #expect((gate.refusal(of: client)?.status == .tooManyRequests) == isTurnedAway)
    #expect(lines.peers.withLock { $0 } == [name])
  }
}

/// The peers that warnings name, in order.
private final class WarningLines: LogHandler {
  let peers = Mutex<[String]>([])

  // Nobody sets either: the logger under test is used as it is.
  var logLevel: Logger.Level {
    get { .warning }
    set { _ = newValue }
  }
  var metadata: Logger.Metadata {
    get { [:] }
    set { _ = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { nil }
    set { _ = newValue }
  }

  func log(event: LogEvent) {
    let peer = event.metadata?["peer"].map { "\($0)" } ?? ""
    peers.withLock { $0.append(peer) }
  }
}
