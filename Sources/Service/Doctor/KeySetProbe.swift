internal import HTTPTransfers
internal import HTTPTypes
internal import Reactors
internal import Settings

/// Fetches the key set once.
enum KeySetProbe {
  /// As long as the service waits.
  private static let limit = Duration.seconds(5)
  private static let documentBytesMax = 256 * 1024

  static func ask(_ url: String, certificates: String?, on reactor: isolated Reactor) async -> KeySetAnswer {
    var configuration = HTTPTransferConfiguration()
    if let certificates { configuration.trust = .only(certificates) }
    let client = HTTPTransferClient(configuration, on: reactor)
    defer { client.close(on: reactor) }
    do throws(HTTPTransferError) {
      let response = try await client.send(
        HTTPTransferRequest(
          url: url, fields: [.accept: "application/json"], deadline: limit, bodyBytesMax: documentBytesMax),
        on: reactor)
      return .answered(status: response.status.code, body: response.body)
    } catch {
      return .failed(error.debugDescription)
    }
  }
}
