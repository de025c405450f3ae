import FoundationEssentials
import HTTPTransfers
import HTTPTypes
import Reactors
import Simulators
import TestLogs

/// A simulator and a client that asks it anything.
struct SimulatorRig {
  static let anthropic = [
    "x-api-key": "a-key", "anthropic-version": "2023-06-01", "content-type": "application/json",
  ]
  static let openAI = ["authorization": "Bearer a-key", "content-type": "application/json"]

  struct Answer {
    let status: Int
    let text: String
    let fields: HTTPFields
  }

  let simulator: LanguageModelSimulator
  private let client: ReactorBound<HTTPTransferClient>
  var model: SimulatedModel { simulator.model }

  /// Runs a test; everything is stopped afterwards.
  static func run(
    _ configure: (inout LanguageModelSimulatorConfiguration) -> Void = { _ in },
    _ test: (SimulatorRig) async throws -> Void
  ) async throws {
    var configuration = LanguageModelSimulatorConfiguration()
    configuration.logger = RunLogs.logger
    configure(&configuration)
    let group = try ReactorGroup(count: 2)
    let simulator = try await LanguageModelSimulator.start(configuration, on: group.reactors[0])
    let client = try await group.reactors[1].perform { ReactorBound(HTTPTransferClient(on: $0), on: $0) }
    let result: Result<Void, any Error>
    do {
      result = .success(try await test(SimulatorRig(simulator: simulator, client: client)))
    } catch {
      result = .failure(error)
    }
    await client.perform { $0.close(on: $1) }
    await simulator.stop()
    await group.stop()
    try result.get()
  }

  /// Sends a request; nil when the connection ends without an answer.
  func send(
    _ method: HTTPRequest.Method, _ path: String, _ fields: [String: String] = [:], _ body: String? = nil
  ) async -> Answer? {
    var all = HTTPFields()
    for (name, value) in fields { if let name = HTTPField.Name(name) { all[name] = value } }
    let request = HTTPTransferRequest(
      method, url: simulator.origin + path, fields: all, body: body.map { Array($0.utf8) }, deadline: .seconds(20))
    let response = await client.perform { client, reactor in try? await client.send(request, on: reactor) }
    return response.map {
      Answer(status: $0.status.code, text: String(decoding: $0.body, as: UTF8.self), fields: $0.fields)
    }
  }

  /// Asks as Anthropic's clients do.
  func message(_ material: String = "Hello", tokensMax: Int = 100, model: String = "m") async -> Answer? {
    await send(.post, "/v1/messages", Self.anthropic, Self.body(material, tokensMax, model))
  }

  /// Asks as OpenAI's clients do.
  func completion(_ material: String = "Hello", tokensMax: Int = 100, model: String = "m") async -> Answer? {
    await send(.post, "/v1/chat/completions", Self.openAI, Self.body(material, tokensMax, model))
  }

  /// What both take.
  private static func body(_ material: String, _ tokensMax: Int, _ model: String) -> String {
    let messages = #"[{"role":"user","content":"\#(material)"}]"#
    return #"{"model":"\#(model)","max_tokens":\#(tokensMax),"messages":\#(messages)}"#
  }
}
