internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Logging
internal import Postgres
internal import PushRules
internal import Reactors

/// Answers a request with what the reactor has.
typealias RouteHandler =
  @Sendable (HTTPServerRequest, PushServices, isolated Reactor) async throws -> HTTPServerResponse

/// Answers the request of a client whose user is known.
typealias ClientHandler =
  @Sendable (HostID, HTTPServerRequest, PushServices, isolated Reactor) async throws -> HTTPServerResponse

/// Routes that share authentication and the answers to failures. The caller is authenticated before content is read.
struct RouteGroup: Sendable {
  private(set) var routes = HTTPRoutes()
  let logger: Logger
  let workers: WorkerTokens
  private let services: PerReactor<PushServices>
  private let callers: CallerAuthentication
  private let failures: FailureGate
  private let requests = ClientRequests()
  /// Of workers, by the token of each.
  private let workerRequests = ClientRequests()

  init(
    services: PerReactor<PushServices>, callers: CallerAuthentication, workers: WorkerTokens, logger: Logger
  ) {
    self.services = services
    self.callers = callers
    self.workers = workers
    self.logger = logger
    failures = FailureGate(for: "service key", logger: logger)
  }

  /// Adds an operation without authentication, or with a different one.
  mutating func add(_ body: (inout HTTPRoutes) -> Void) { body(&routes) }

  /// Adds an operation for apps.
  /// - Parameters:
  ///   - hasContent: whether it takes a JSON document. bodyBytesMax: how large that may be.
  ///   - load: what it takes of the user's share.
  mutating func addForClients(
    _ method: HTTPRequest.Method, _ pattern: String, hasContent: Bool = false,
    bodyBytesMax: Int = Self.bodyBytesMax, load: ClientRequests.Load = .look, handler: @escaping ClientHandler
  ) {
    let (callers, requests) = (callers, requests)
    add(method, pattern, hasContent, bodyBytesMax) { request, logger, reactor in
      let user = try await callers.client(request, logger, on: reactor)
      return try requests.admit(user, load) { try await handler(HostID(text: user), $0, $1, $2) }
    }
  }

  /// Adds an operation for the service workers of browsers.
  /// - Parameter client: answers apps at the same place; nil where they have nothing to ask.
  mutating func addForWorkers(
    _ method: HTTPRequest.Method, _ pattern: String, hasContent: Bool = false, load: ClientRequests.Load = .look,
    handler:
      @escaping @Sendable (FetchToken, HTTPServerRequest, PushServices, isolated Reactor) async throws
      -> HTTPServerResponse,
    client: ClientHandler? = nil
  ) {
    let (callers, users, workers, tokens) = (callers, requests, workerRequests, workers)
    add(method, pattern, hasContent) { request, logger, reactor in
      // A user's token is longer, and has dots.
      let bearer = request.head.fields.bearerToken
      if let bearer, tokens.accepts(bearer) {
        let token = FetchToken(text: bearer)
        return try workers.admit(token.digest, load) { try await handler(token, $0, $1, $2) }
      }
      guard let client else {
        throw bearer == nil
          ? ProblemDetails(.unauthorized, detail: "The token of a subscription is missing.") : .unknownSubscription
      }
      let user = try await callers.client(request, logger, on: reactor)
      return try users.admit(user, load) { try await client(HostID(text: user), $0, $1, $2) }
    }
  }

  mutating func addForServices(
    _ method: HTTPRequest.Method, _ pattern: String, hasContent: Bool = false, handler: @escaping RouteHandler
  ) {
    let (callers, failures) = (callers, failures)
    add(method, pattern, hasContent) { request, _, _ in
      try callers.service(request, failures)
      return handler
    }
  }

  /// Adds an operation on a user, for that user's app and for other servers, which name the user by the parameter `user_id`.
  /// - Parameter load: what it takes of an app's share.
  mutating func addForUsers(
    _ method: HTTPRequest.Method, _ pattern: String, load: ClientRequests.Load, handler: @escaping ClientHandler
  ) {
    let (callers, failures, requests) = (callers, failures, requests)
    add(method, pattern) { request, logger, reactor in
      guard request.head.queryValue("user_id") == nil else {
        try callers.service(request, failures)
        return { request, services, reactor in
          guard let user = try request.namedUser(services) else {
            throw ProblemDetails.content("user_id", "user_id is missing.")
          }
          return try await handler(user, request, services, reactor)
        }
      }
      let user = try await callers.client(request, logger, on: reactor)
      return try requests.admit(user, load) { request, services, reactor in
        _ = try StrictQuery(request.head, known: ["user_id"])
        return try await handler(HostID(text: user), request, services, reactor)
      }
    }
  }

  /// The largest content, in bytes. 64 KiB: the largest push, every character of it escaped, has 40.
  static let bodyBytesMax = 64 * 1024

  /// - Parameter admission: finds out who calls, and gives what answers those who may.
  private mutating func add(
    _ method: HTTPRequest.Method, _ pattern: String, _ hasContent: Bool = false,
    _ bodyBytesMax: Int = Self.bodyBytesMax,
    admission: @escaping @Sendable (HTTPServerRequest, Logger, isolated Reactor) async throws -> RouteHandler
  ) {
    var logger = logger
    logger[metadataKey: "route"] = "\(method.rawValue) \(pattern)"
    let (services, routeLogger) = (services, logger)
    routes.add(
      method, pattern, mediaTypes: hasContent ? ["application/json"] : [], bodyBytesMax: bodyBytesMax,
      admission: { request, reactor in
        let handler = try await admission(request, routeLogger, reactor)
        return HTTPAdmitted { request, reactor in
          try await Self.telling(routeLogger) { try await handler(request, services.value(on: reactor), reactor) }
        }
      })
  }

  /// Turns errors of the database into problem details.
  private static func telling(
    _ logger: Logger, _ body: () async throws -> HTTPServerResponse
  ) async throws -> HTTPServerResponse {
    do {
      return try await body()
    } catch let error as PostgresError {
      throw ProblemDetails.database(error, "The request can be sent again.", logger)
    } catch let problem as ProblemDetails where problem == .missingRight {
      logger.error("row-level security lets the service write no row; tacet doctor names the policy to create")
      throw problem
    }
  }
}

extension ProblemDetails {
  /// The answer when the database fails: 503 when trying again later may help, else 500.
  static func database(_ error: PostgresError, _ advice: String, _ logger: Logger) -> ProblemDetails {
    if error.sqlState == .insufficientPrivilege {
      logger.error(
        "the service's database role lacks a right; tacet doctor names what to grant",
        metadata: ["error": "\(error.debugDescription)"])
      return .missingRight
    }
    logger.error("a request could not be answered", metadata: ["error": "\(error)"])
    // tacet.not_wired raises it.
    if error.sqlState == "TC002" { return .notWired }
    guard error.isOutage else { return ProblemDetails(.internalServerError) }
    return ProblemDetails(
      .serviceUnavailable, detail: "The database is not available. \(advice)", fields: [.retryAfter: "5"])
  }

  /// The service's role may not do in the database what the request needs; only its operator can help.
  static var missingRight: ProblemDetails {
    ProblemDetails(
      .internalServerError,
      detail:
        "The service lacks a right in its database. Its operator has to grant it; sending the request again does not help.",
      extensions: [("code", .string("missing_right"))])
  }

  /// The request writes what the host keeps in tables of its own.
  private static var notWired: ProblemDetails {
    ProblemDetails(
      .internalServerError,
      detail: "The application keeps this in tables of its own, which Tacet only reads: tell the application's server.",
      extensions: [("code", .string("not_wired"))])
  }
}

extension PostgresError {
  /// Whether trying again later may help.
  fileprivate var isOutage: Bool {
    guard let state = sqlState else { return code != .decoding && code != .invalidParameter }
    // Nothing was run: the statement's preparation, for which it waited in the session's pipeline, was cut short.
    if state == .invalidStatementName { return true }
    return state.isConnectionException || state.isOperatorIntervention || state.isInsufficientResources
      || state.isRetryable || state == .lockNotAvailable || state == .readOnlyTransaction
  }
}
