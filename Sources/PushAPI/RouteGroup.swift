internal import FoundationEssentials
internal import HTTPServing
internal import HTTPTypes
internal import Logging
internal import Postgres
internal import Reactors

/// Routes that share who may call them and how their failures are told.
struct RouteGroup: Sendable {
  /// The table so far.
  private(set) var routes = HTTPRoutes()
  let callers: CallerAuthentication
  let failures: FailureGate
  let logger: Logger

  init(callers: CallerAuthentication, failures: FailureGate, logger: Logger) {
    self.callers = callers
    self.failures = failures
    self.logger = logger
  }

  /// Adds an operation that anybody may call, or that asks for its own proof.
  mutating func add(_ body: (inout HTTPRoutes) -> Void) { body(&routes) }

  /// Adds an operation for apps.
  /// - Parameters:
  ///   - hasContent: whether it takes a JSON document. bodyBytesMax: how large that may be.
  mutating func addForClients(
    _ method: HTTPRequest.Method, _ pattern: String, hasContent: Bool = false,
    bodyBytesMax: Int = Self.bodyBytesMax, handler: @escaping ClientHandler
  ) {
    add(method, pattern, hasContent, bodyBytesMax, admission: nil) { [self] request, reactor in
      let user = try await callers.client(request, logger, on: reactor)
      return try await handler(user, request, reactor)
    }
  }

  /// Adds an operation for other servers. Whoever failed to prove who they are too often is turned away before anything
  /// is read.
  mutating func addForServices(
    _ method: HTTPRequest.Method, _ pattern: String, hasContent: Bool = false, handler: @escaping HTTPHandler
  ) {
    let failures = failures
    add(method, pattern, hasContent, Self.bodyBytesMax, admission: { failures.refusal(of: $0) }) {
      [self] request, reactor in
      try callers.service(request, failures)
      return try await handler(request, reactor)
    }
  }

  /// The largest content, in bytes. 64 KiB: the largest push, every character of it escaped, has 40.
  static let bodyBytesMax = 64 * 1024

  /// A database that is away is told as such.
  private mutating func add(
    _ method: HTTPRequest.Method, _ pattern: String, _ hasContent: Bool, _ bodyBytesMax: Int,
    admission: HTTPAdmission?, handler: @escaping HTTPHandler
  ) {
    var logger = logger
    logger[metadataKey: "route"] = "\(method.rawValue) \(pattern)"
    routes.add(
      method, pattern, mediaTypes: hasContent ? ["application/json"] : [], bodyBytesMax: bodyBytesMax,
      admission: admission,
      handler: { [logger] request, reactor in
        do {
          return try await handler(request, reactor)
        } catch let error as PostgresError {
          throw ProblemDetails.database(error, "The request can be sent again.", logger)
        } catch let problem as ProblemDetails where problem == .missingRight {
          logger.error(
            "row-level security lets the service write no row; tacet doctor names the policy to create")
          throw problem
        }
      })
  }
}

extension ProblemDetails {
  /// What a caller is told when the database did not do it: 503 when trying again later may help, else 500.
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
    return state.isConnectionException || state.isOperatorIntervention || state.isInsufficientResources
      || state.isRetryable || state == .lockNotAvailable
  }
}
