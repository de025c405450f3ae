import Foundation
import HTTPTransfers
import HTTPTypes
import Reactors
import Testing

/// A client that asks a simulator anything.
struct SimulatorClient: Sendable {
  struct Answer: Sendable {
    let status: Int
    let text: String
    let fields: HTTPFields

    var json: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]) ?? [:]
    }

    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try JSONDecoder().decode(type, from: Data(text.utf8))
    }
  }

  private let transfers: ReactorBound<HTTPTransferClient>

  /// Runs a test with a simulator and a client on a reactor each; everything is stopped afterwards.
  static func run<Simulator>(
    _ start: (Reactor) async throws -> Simulator, trusting authority: (Simulator) -> String? = { _ in nil },
    stop: (Simulator) async -> Void, _ test: (Simulator, SimulatorClient) async throws -> Void
  ) async throws {
    let group = try ReactorGroup(count: 2)
    let simulator = try await start(group.reactors[0])
    var configuration = HTTPTransferConfiguration()
    if let authority = authority(simulator) { configuration.trust = .only(authority) }
    let transfers = try await group.reactors[1].perform { [configuration] in
      ReactorBound(HTTPTransferClient(configuration, on: $0), on: $0)
    }
    let result: Result<Void, any Error>
    do {
      result = .success(try await test(simulator, SimulatorClient(transfers: transfers)))
    } catch {
      result = .failure(error)
    }
    await transfers.perform { $0.close(on: $1) }
    await stop(simulator)
    await group.stop()
    try result.get()
  }

  /// Sends a request; nil when the connection ends without an answer.
  func send(
    _ method: HTTPRequest.Method, _ url: String, _ fields: HTTPFields = [:], _ body: [UInt8]? = nil
  ) async -> Answer? {
    var request = HTTPTransferRequest(method, url: url, fields: fields, body: body, deadline: .seconds(20))
    request.isSentOnce = true
    let response = await transfers.perform { [request] in try? await $0.send(request, on: $1) }
    return response.map {
      Answer(status: $0.status.code, text: String(decoding: $0.body, as: UTF8.self), fields: $0.fields)
    }
  }
}
