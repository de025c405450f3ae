import APNS
import APNSCore
import Logging
import Reactors
import TLSStreams

/// One run: clients are made, warmed up, measured and closed.
struct APNSMeasurement: Sendable {
  let endpoint: APNSEndpoint
  let context: TLSContext
  let tokens: ProviderTokenSource
  let series: PushSeries
  let connections: Int
  let concurrency: Int
  let logger: Logger

  /// - Throws: `PushRequestError` when the series makes pushes that cannot be sent.
  func run(pushes: Int, warmUp: Int, rate: Double?, on reactor: isolated Reactor) async throws -> LoadReport {
    let clients = (0..<connections).map { _ in
      APNSClient(endpoints: [.production: endpoint], context: context, tokens: tokens, logger: logger)
    }
    for client in clients { client.warmUp(.production, on: reactor) }
    let load = PushLoad(series, over: clients, concurrency: concurrency)
    if warmUp > 0 { _ = try await load.send(0..<warmUp, on: reactor) }
    let resendsBefore = Self.resends(of: clients)
    let usage = ProcessUsage.current
    var books = try await load.send(warmUp..<(warmUp + pushes), rate: rate, on: reactor)
    let spent = ProcessUsage.current.since(usage)
    books.resends += Self.resends(of: clients) - resendsBefore
    for client in clients { client.close(on: reactor) }
    return LoadReport(
      books, spent: spent, bodyBytes: series.bodyBytes,
      connectionsOpened: clients.reduce(0) { $0 + $1.connectionsOpened(to: .production) })
  }

  private static func resends(of clients: [APNSClient]) -> Int {
    clients.reduce(0) { $0 + $1.resends }
  }
}
