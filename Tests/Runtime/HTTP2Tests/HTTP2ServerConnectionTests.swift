import HTTP2
import Reactors
import TestReactors
import Testing

@Suite("A server's conduct")
struct HTTP2ServerConnectionTests {
  @Test("a server that acknowledges no PING is given up by its client, one that does is kept")
  func pings() async throws {
    try await onReactor { reactor in
      for acknowledges in [false, true] {
        var configuration = HTTP2ClientConfiguration()
        configuration.silenceBeforePing = .milliseconds(20)
        configuration.pingTimeout = .milliseconds(200)
        let exchange = try await Exchange.start(answers: false, client: configuration, on: reactor)
        exchange.outcomes.send(1, over: exchange.client, within: .milliseconds(600), on: reactor)
        try await exchange.server.received(1, on: reactor)
        exchange.server.connection.acknowledgesPings = acknowledges
        try await exchange.outcomes.arrived(on: reactor)
        let expected = acknowledges ? HTTP2Uncertainty.deadline : .connectionLost(.unresponsive)
        #expect(exchange.outcomes.unknown == [0: expected])
        exchange.client.close(on: reactor)
      }
    }
  }
}
