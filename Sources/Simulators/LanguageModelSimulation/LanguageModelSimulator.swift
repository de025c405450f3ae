internal import HTTPServing
public import Logging
public import Reactors

/// A stand-in for language models: the interfaces of Anthropic and OpenAI, as strict about requests as they are, with
/// answers that a script gives, and a control endpoint beside them.
///
/// May be used from any task.
public final class LanguageModelSimulator: Sendable {
  /// How long control requests may go on when the simulator stops.
  private static let drainLimit = Duration.seconds(1)

  /// Script, records and counters.
  public let model: SimulatedModel

  private let service: HTTPService
  private let reactor: Reactor

  private init(_ model: SimulatedModel, _ service: HTTPService, _ reactor: Reactor) {
    self.model = model
    self.service = service
    self.reactor = reactor
  }

  /// Listens. When it returns, clients can connect.
  /// - Parameter reactor: serves; it has to run until after ``stop()``.
  /// - Throws: `SystemError` when the address cannot be had.
  public static func start(
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

  /// Where it listens, after port 0 has become a port.
  public var address: SocketAddress { service.address }

  /// Scheme, host and port: the base URL of Anthropic's interface. OpenAI's has `/v1` behind it.
  public var origin: String { "http://\(address)" }

  /// `{"address":"127.0.0.1:2300","url":"http://127.0.0.1:2300"}`
  public var json: String { #"{"address":"\#(address)","url":"\#(origin)"}"# }

  /// Waits until `count` requests have come since the start or ``SimulatedModel/forgetRequests()``, refused ones not
  /// counted.
  /// - Returns: whether they have within the limit.
  public func waitForRequests(_ count: Int, within limit: Duration) async -> Bool {
    let hasCome = try? await reactor.perform { [model] reactor in
      await model.waitForRequests(count, within: limit, on: reactor)
    }
    return hasCome ?? false
  }

  /// Hangs up on everybody who waits, and closes. Stopping twice does nothing more.
  public func stop() async {
    model.pauses.end()
    _ = await service.drain(within: Self.drainLimit)
  }
}

/// What a simulator is started with; every value has a default.
public struct LanguageModelSimulatorConfiguration: Sendable {
  /// Where it listens, in plain HTTP/1.1: both interfaces and the control endpoint, which has no authentication, so
  /// that a loopback address is the place for it. Port 0 lets the kernel choose.
  public var address: SocketAddress

  /// What is answered.
  public var script = ModelScript()

  /// How much longer than at once every answer takes, in milliseconds; what a step says is added.
  public var delayMilliseconds = 0

  /// The only key that is let in; nil lets every one in, but nobody without.
  public var key: String?

  /// Records kept; the oldest go first. 1000: some megabytes with ordinary prompts.
  public var recordsMax = 1000

  /// Gets what the HTTP service has to say.
  public var logger = Logger(label: "model-simulator")

  /// 127.0.0.1 on a free port, and replies made of the prompts.
  public init() {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else {
      preconditionFailure("127.0.0.1 is no numeric address")
    }
    self.address = address
  }
}
