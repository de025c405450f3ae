internal import HTTP1
package import Logging
package import Reactors
internal import SimulationControl

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
    ControlRoutes(model: model).add(to: &routes)
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
  package var address: SocketAddress

  package var script = ModelScript()

  /// The delay of every answer, in milliseconds; the delay of a step is added.
  package var delayMilliseconds = 0

  /// The only accepted key; nil accepts any key, but still requires one.
  package var key: String?

  /// The number of records kept. 1000: some megabytes with ordinary prompts.
  package var recordsMax = 1000

  package var logger = Logger(label: "model-simulator")

  /// 127.0.0.1 on a free port, and replies made of the prompts.
  package init() {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else {
      preconditionFailure("127.0.0.1 is no numeric address")
    }
    self.address = address
  }
}
