internal import HTTP1
internal import HTTPTypes
package import Logging
package import Reactors

/// A stand-in for language models. It serves the interfaces of Anthropic and OpenAI with their strictness, answers as a
/// script says, and has a control endpoint.
///
/// Usable from any task.
package final class LanguageModelSimulator: Sendable {
  /// The time that control requests have when the simulator stops.
  private static let drainLimit = Duration.seconds(1)

  package let model: SimulatedModel

  private let service: HTTPService
  private let reactor: Reactor

  private init(_ model: SimulatedModel, _ service: HTTPService, _ reactor: Reactor) {
    self.model = model
    self.service = service
    self.reactor = reactor
  }

  /// Starts to listen. Clients can connect when it returns.
  /// - Parameter reactor: serves the requests; it must run until ``stop()`` has returned.
  /// - Throws: `SystemError` when the address is not available.
  package static func start(
    _ configuration: LanguageModelSimulatorConfiguration = LanguageModelSimulatorConfiguration(), on reactor: Reactor
  ) async throws -> LanguageModelSimulator {
    let model = SimulatedModel(configuration)
    var routes = HTTPRoutes()
    ModelRoutes(model: model, key: configuration.key).add(to: &routes)
    ModelControlRoutes(model: model).add(to: &routes)
    let service = try await HTTPService.start(
      routes, on: configuration.address, reactors: [reactor], logger: configuration.logger)
    return LanguageModelSimulator(model, service, reactor)
  }

  /// The actual address, also for port 0.
  package var address: SocketAddress { service.address }

  /// Scheme, host and port: the base URL of Anthropic's interface. OpenAI's ends in `/v1`.
  package var origin: String { "http://\(address)" }

  /// `{"address":"127.0.0.1:2300","url":"http://127.0.0.1:2300"}`
  package var json: String { #"{"address":"\#(address)","url":"\#(origin)"}"# }

  /// Waits until `count` requests were accepted since the start or ``SimulatedModel/forgetRequests()``.
  /// - Returns: false when the limit passed first.
  package func waitForRequests(_ count: Int, within limit: Duration) async -> Bool {
    let hasCome = try? await reactor.perform { [model] reactor in
      await model.waitForRequests(count, within: limit, on: reactor)
    }
    return hasCome ?? false
  }

  /// Closes the connections of waiting requests, and stops. Idempotent.
  package func stop() async {
    model.held.end()
    _ = await service.drain(within: Self.drainLimit)
  }
}

/// The configuration of a simulator. Every value has a default.
package struct LanguageModelSimulatorConfiguration: Sendable {
  /// The address of both interfaces and the control endpoint, in plain HTTP/1.1. The control endpoint has no
  /// authentication, so use a loopback address. Port 0 lets the kernel choose.
  package var address = SocketAddress.anyLoopback

  package var script = ModelScript()

  /// The delay of every answer, in milliseconds; the delay of a step is added.
  package var delayMilliseconds = 0

  /// The only accepted key; nil accepts any key, but still requires one.
  package var key: String?

  /// The number of records kept. 1000: some megabytes with ordinary prompts.
  package var recordsMax = 1000

  package var logger = Logger(label: "model")

  package init() {}
}

/// The two interfaces of the model.
struct ModelRoutes: Sendable {
  /// Far larger than any prompt of a push, and small enough for a thousand records.
  private static let bodyBytesMax = 256 * 1024

  let model: SimulatedModel
  /// The right key; nil accepts any.
  let key: String?

  func add(to routes: inout HTTPRoutes) {
    add(AnthropicFace.self, to: &routes)
    add(OpenAIFace.self, to: &routes)
  }

  private func add(_ face: any ProviderFace.Type, to routes: inout HTTPRoutes) {
    let (model, key) = (model, key)
    routes.add(.post, face.path, bodyBytesMax: Self.bodyBytesMax) { request, reactor in
      let admitted = Self.admit(request, face, key, model)
      switch admitted {
      case .failure(let refusal): return try face.response(refusal, number: model.refuse(face.provider, refusal.status))
      case .success(let inquiry): return try await Self.answer(inquiry, face, model, on: reactor)
      }
    }
  }

  private static func admit(
    _ request: HTTPServerRequest, _ face: any ProviderFace.Type, _ key: String?, _ model: SimulatedModel
  ) -> Result<ModelInquiry, ModelRefusal> {
    do throws(ModelRefusal) {
      let inquiry = try face.admit(request, key: key)
      guard model.knows(inquiry.model) else { throw ModelRefusal(status: 404, message: "there is no such model") }
      return .success(inquiry)
    } catch {
      return .failure(error)
    }
  }

  /// Waits as long as the step says.
  /// - Returns: false when the simulator stops.
  private static func wait(for turn: ModelTurn, _ model: SimulatedModel, on reactor: isolated Reactor) async -> Bool {
    let hangs = turn.step.answer.kind == .hang
    guard hangs || turn.delay > .zero else { return true }
    return await model.held.wait(for: hangs ? nil : turn.delay, on: reactor)
  }

  private static func answer(
    _ inquiry: ModelInquiry, _ face: any ProviderFace.Type, _ model: SimulatedModel, on reactor: isolated Reactor
  ) async throws -> HTTPServerResponse {
    let turn = model.begin(inquiry)
    guard await Self.wait(for: turn, model, on: reactor) else {
      model.end(turn.number, .init("close"))
      throw HTTPHangUp()
    }
    let number = turn.number
    switch turn.step.answer {
    case .reply(let text): return try reply(.reply(text, to: inquiry), inquiry, face, model, number)
    case .hang: return try reply(.reply(nil, to: inquiry), inquiry, face, model, number)
    case .cut(let text): return try reply(.cut(text, to: inquiry), inquiry, face, model, number)
    case .refusal: return try reply(.refusal(to: inquiry), inquiry, face, model, number)
    case .failure(let status, let type, let fields):
      model.end(number, .init("failure", status: status))
      let refusal = ModelRefusal(status: status, type: type, message: "the script says so")
      return try face.response(refusal, number: number, fields: fields)
    case .raw(let content):
      model.end(number, .init("raw", status: 200, text: content))
      return face.response(200, content.utf8, number)
    case .close:
      model.end(number, .init("close"))
      throw HTTPHangUp()
    }
  }

  private static func reply(
    _ output: ModelOutput, _ inquiry: ModelInquiry, _ face: any ProviderFace.Type, _ model: SimulatedModel,
    _ number: Int
  ) throws -> HTTPServerResponse {
    model.end(number, .init(output))
    return try face.response(output, model: inquiry.model, number: number)
  }
}

struct ModelControlRoutes: Sendable {
  let model: SimulatedModel

  func add(to routes: inout HTTPRoutes) {
    let model = model
    routes.add(.put, "/simulator/script") { request, _ in
      model.play(try ScriptDocument.read(request.body).script())
      return ControlAnswer.done
    }
    routes.show("/simulator/requests") { _ in
      let (requests, statistics) = (model.requests, model.statistics)
      return [
        "requests": requests, "in_flight": statistics.inFlight, "in_flight_max": statistics.inFlightMax,
      ] as JSONMembers
    }
    routes.forget("/simulator/requests") { model.forgetRequests() }
    routes.show("/simulator/stats") { _ in model.statistics }
    routes.add(.post, "/simulator/release") { _, _ in try ControlAnswer.json(["released": model.release()]) }
    routes.add(.get, "/healthz", isHealthCheck: true) { _, _ in ControlAnswer.done }
  }
}
