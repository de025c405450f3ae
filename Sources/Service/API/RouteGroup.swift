internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Logging
internal import Postgres
internal import PushRules
internal import Reactors

/// Answers the request of a client whose user is known.
typealias ClientHandler = @Sendable (HostID, HTTPServerRequest, isolated Reactor) async throws -> HTTPServerResponse

/// Routes that share authentication and the answers to failures. The caller is authenticated before content is read.
struct RouteGroup: Sendable {
  private(set) var routes = HTTPRoutes()
  let logger: Logger
  private let callers: CallerAuthentication
  private let failures: FailureGate
  private let requests: ClientRequests
  let workers: WorkerTokens
  /// Of workers, by the token of each.
  private let workerRequests = ClientRequests()

  init(
    callers: CallerAuthentication, workers: WorkerTokens, requests: ClientRequests = ClientRequests(), logger: Logger
  ) {
    self.callers = callers
    self.workers = workers
    self.requests = requests
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
    let (callers, requests, logger) = (callers, requests, routeLogger(method, pattern))
    add(method, pattern, hasContent, bodyBytesMax) { request, reactor in
      let user = try await callers.client(request, logger, on: reactor)
      try requests.begin(load, of: user)
      return HTTPAdmitted { request, reactor in
        try await requests.perform(load, of: user, on: reactor) { reactor in
          try await Self.telling(logger) { try await handler(HostID(text: user), request, reactor) }
        }
      }
    }
  }

  /// Adds an operation for the service workers of browsers.
  /// - Parameter client: answers apps at the same place; nil where they have nothing to ask.
  mutating func addForWorkers(
    _ method: HTTPRequest.Method, _ pattern: String, hasContent: Bool = false, load: ClientRequests.Load = .look,
    handler: @escaping @Sendable (FetchToken, HTTPServerRequest, isolated Reactor) async throws -> HTTPServerResponse,
    client: ClientHandler? = nil
  ) {
    let (callers, users, workers, tokens) = (callers, requests, workerRequests, workers)
    let logger = routeLogger(method, pattern)
    add(method, pattern, hasContent, Self.bodyBytesMax) { request, reactor in
      // A user's token is longer, and has dots.
      let bearer = request.head.fields.bearerToken
      let token = bearer.flatMap { tokens.accepts($0) ? FetchToken(text: $0) : nil }
      let caller: String
      let requests = token == nil ? users : workers
      if let token {
        caller = token.digest
      } else if client != nil {
        caller = try await callers.client(request, logger, on: reactor)
      } else {
        throw bearer == nil
          ? ProblemDetails(.unauthorized, detail: "The token of a subscription is missing.") : .unknownSubscription
      }
      try requests.begin(load, of: caller)
      return HTTPAdmitted { request, reactor in
        try await requests.perform(load, of: caller, on: reactor) { reactor in
          try await Self.telling(logger) {
            if let token { return try await handler(token, request, reactor) }
            guard let client else { preconditionFailure("only workers were admitted") }
            return try await client(HostID(text: caller), request, reactor)
          }
        }
      }
    }
  }

  mutating func addForServices(
    _ method: HTTPRequest.Method, _ pattern: String, hasContent: Bool = false, handler: @escaping HTTPHandler
  ) {
    let (callers, failures, logger) = (callers, failures, routeLogger(method, pattern))
    add(method, pattern, hasContent, Self.bodyBytesMax) { request, _ in
      try callers.service(request, failures)
      return HTTPAdmitted { request, reactor in
        try await Self.telling(logger) { try await handler(request, reactor) }
      }
    }
  }

  /// Adds an operation on a user, for that user's app and for other servers, which name the user by the parameter `user_id`.
  /// - Parameters:
  ///   - load: what it takes of an app's share.
  ///   - idTypes: of the parameter.
  mutating func addForUsers(
    _ method: HTTPRequest.Method, _ pattern: String, load: ClientRequests.Load,
    idTypes: @escaping @Sendable (isolated Reactor) -> IDTypes, handler: @escaping ClientHandler
  ) {
    let (callers, failures, requests) = (callers, failures, requests)
    let logger = routeLogger(method, pattern)
    add(method, pattern, false, Self.bodyBytesMax) { request, reactor in
      guard request.head.queryValue("user_id") == nil else {
        try callers.service(request, failures)
        return HTTPAdmitted { request, reactor in
          guard let user = try StrictQuery(request.head, known: ["user_id"]).id("user_id", of: idTypes(reactor).users)
          else { throw ProblemDetails.content("user_id", "user_id is missing.") }
          return try await Self.telling(logger) { try await handler(user, request, reactor) }
        }
      }
      let user = try await callers.client(request, logger, on: reactor)
      try requests.begin(load, of: user)
      return HTTPAdmitted { request, reactor in
        _ = try StrictQuery(request.head, known: ["user_id"])
        return try await requests.perform(load, of: user, on: reactor) { reactor in
          try await Self.telling(logger) { try await handler(HostID(text: user), request, reactor) }
        }
      }
    }
  }

  /// The largest content, in bytes. 64 KiB: the largest push, every character of it escaped, has 40.
  static let bodyBytesMax = 64 * 1024

  private mutating func add(
    _ method: HTTPRequest.Method, _ pattern: String, _ hasContent: Bool, _ bodyBytesMax: Int,
    admission: @escaping HTTPAdmission
  ) {
    routes.add(
      method, pattern, mediaTypes: hasContent ? ["application/json"] : [], bodyBytesMax: bodyBytesMax,
      admission: admission)
  }

  private func routeLogger(_ method: HTTPRequest.Method, _ pattern: String) -> Logger {
    var logger = logger
    logger[metadataKey: "route"] = "\(method.rawValue) \(pattern)"
    return logger
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
    guard error.isOutage else { return ProblemDetails(.internalServerError) }
    return ProblemDetails(
      .serviceUnavailable, detail: "The database is not available. \(advice)", fields: [.retryAfter: "5"])
  }
}

extension ProblemDetails {
  /// The service's role may not do in the database what the request needs; only its operator can help.
  static var missingRight: ProblemDetails {
    ProblemDetails(
      .internalServerError,
      detail:
        "The service lacks a right in its database. Its operator has to grant it; sending the request again does not help.",
      extensions: [("code", .string("missing_right"))])
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
