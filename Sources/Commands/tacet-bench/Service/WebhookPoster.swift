import FoundationEssentials
import HTTPTransfers
import HTTPTypes
import Reactors

/// Posts a webhook for each committed message, like pg_net or a function of the host, without waiting for the outcome.
final class WebhookPoster: CommitObserver {
  /// Concurrent connections. They are kept alive.
  private static let connectionsMax = 64

  /// Waiting posts. With more, the host would be far behind.
  private static let waitingMax = 100_000

  private let url: String
  private let fields: HTTPFields
  private let client: HTTPTransferClient
  private var failure: String?

  init(to service: RunningService, secret: String, on reactor: isolated Reactor) {
    url = service.url + "/v1/webhooks/messages"
    var fields: HTTPFields = [.authorization: "Bearer \(secret)", .contentType: "application/json"]
    if let prefer = HTTPField.Name("prefer") { fields[prefer] = "respond-async" }
    self.fields = fields
    var configuration = HTTPTransferConfiguration()
    configuration.transfersMax = Self.connectionsMax
    configuration.waitingMax = Self.waitingMax
    client = HTTPTransferClient(configuration, on: reactor)
  }

  func committed(_ message: UUID, on reactor: isolated Reactor) {
    reactor.start { await self.post(message, on: reactor) }
  }

  func close(on reactor: isolated Reactor) { client.close(on: reactor) }

  /// - Throws: when the service has refused a webhook or was unreachable.
  func check() throws(BenchError) {
    if let failure { throw BenchError("a webhook failed: \(failure)") }
  }

  private func post(_ message: UUID, on reactor: isolated Reactor) async {
    let body = #"{"message_id":"\#(message.uuidString.lowercased())"}"#
    let request = HTTPTransferRequest(.post, url: url, fields: fields, body: Array(body.utf8))
    do throws(HTTPTransferError) {
      let answer = try await client.send(request, on: reactor)
      if answer.status.kind != .successful { failure = "status \(answer.status.code)" }
    } catch {
      if error.code != .closed { failure = "\(error)" }
    }
  }
}
