import APNS
import APNSCore
import Logging
import Reactors
import TLSStreams

/// One run: a client is made, warmed up, measured and closed.
struct APNSMeasurement: Sendable {
  let endpoint: APNSEndpoint
  let context: TLSContext
  let tokens: ProviderTokenSource
  let series: PushSeries
  let configuration: APNSConfiguration
  let concurrency: Int
  let logger: Logger

  /// - Throws: `PushRequestError` when the series makes pushes that cannot be sent.
  func run(pushes: Int, warmUp: Int, rate: Double?, on reactor: isolated Reactor) async throws -> LoadReport {
    let client = APNSClient(
      endpoints: [.production: endpoint], context: context, tokens: tokens, configuration: configuration,
      logger: logger)
    client.warmUp(.production, on: reactor)
    let load = PushLoad(series, over: APNSRouter([series.route.app: client]), concurrency: concurrency)
    if warmUp > 0 { _ = try await load.send(0..<warmUp, on: reactor) }
    let resendsBefore = client.resends
    let usage = ProcessUsage.current
    var books = try await load.send(warmUp..<(warmUp + pushes), rate: rate, on: reactor)
    let spent = ProcessUsage.current.since(usage)
    books.resends += client.resends - resendsBefore
    client.close(on: reactor)
    return LoadReport(
      books, spent: spent, composing: try composing(pushes), bodyBytes: series.bodyBytes,
      connectionsOpened: client.connectionsOpened(to: .production))
  }

  /// Builds as many pushes once more, and sends none.
  private func composing(_ pushes: Int) throws(PushRequestError) -> ProcessUsage {
    let usage = ProcessUsage.current
    for number in 0..<pushes { _ = try series.request(number) }
    return ProcessUsage.current.since(usage)
  }
}
