public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// An app's client of the push service: it reports what the user looks at, reads and opens, and registers devices.
///
/// All calls are idempotent. A temporary failure is tried three times, half a second and then a second apart or as the
/// service asks, before its error is thrown.
public struct PushServiceClient: Sendable {
  /// The user's current token. It is requested before each try, so that a renewed one is used.
  public typealias TokenProvider = @Sendable () async throws -> String

  private let origin: URL
  private let transport: any ClientTransport
  private let token: TokenProvider
  let presence = SurfacePresence()
  let sleep: @Sendable (Duration) async throws -> Void

  /// The longest pause before another try, also if the service asks for more: a user waits.
  static let pauseMax = Duration.seconds(10)
  /// The largest content of a response, in bytes. The service's largest, a schedule, has about 64 KiB.
  static let answerBytesMax = 1 << 20

  /// Makes a client. It opens no connection yet.
  /// - Parameters:
  ///   - origin: the service's address, such as `https://push.example.com`. Its path precedes the service's own.
  public init(origin: URL, transport: any ClientTransport = URLSession.shared, token: @escaping TokenProvider) {
    self.init(origin: origin, transport: transport, token: token) { try await Task.sleep(for: $0) }
  }

  init(
    origin: URL, transport: any ClientTransport, token: @escaping TokenProvider,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.origin = origin
    self.transport = transport
    self.token = token
    self.sleep = sleep
  }

  /// Registers a device for the user, or updates it. Call it at every start of the app, because tokens change. A
  /// previous owner of the token loses it.
  ///
  /// A time zone that the service's database does not know is left out.
  public func register(_ device: DeviceRegistration) async throws(PushServiceError) {
    _ = try await send("PUT", ["v1", "devices", device.token], JSONEncoder().content(device))
  }

  /// Ends pushes to a device. Call it before the user logs out.
  public func removeDevice(token deviceToken: Data) async throws(PushServiceError) {
    _ = try await send("DELETE", ["v1", "devices", DeviceRegistration.text(of: deviceToken)])
  }

  /// Marks messages of a conversation as read, and clears their pushes on the user's other devices.
  /// - Parameters:
  ///   - messageID: the newest read message; nil for all.
  ///   - deviceToken: of this device, which clears its pushes itself; nil notifies all devices of the user.
  /// - Returns: the unread count for the app's icon.
  @discardableResult
  public func markRead(
    conversation: UUID, upTo messageID: UUID? = nil, deviceToken: Data? = nil
  ) async throws(PushServiceError) -> ReadReceipt {
    let mark = ReadMark(
      upTo: messageID?.uuidString.lowercased(), deviceToken: deviceToken.map(DeviceRegistration.text))
    let path = ["v1", "conversations", conversation.uuidString.lowercased(), "read"]
    return try ReadReceipt(content: await send("POST", path, JSONEncoder().content(mark)))
  }

  /// Reports that the user is active. Looks, reads, opened pushes and actions say it as well. The service notes it once in five
  /// minutes.
  public func active() async throws(PushServiceError) {
    _ = try await send("POST", ["v1", "activity"])
  }

  /// Reports that a push opened the app.
  /// - Parameter pushLogID: `push_log_id` in the push's custom data.
  public func opened(_ pushLogID: UUID) async throws(PushServiceError) {
    _ = try await send("POST", ["v1", "pushes", pushLogID.uuidString.lowercased(), "opened"])
  }

  /// Sends a request, with retries after temporary failures.
  /// - Returns: the content of a success.
  func send(
    _ method: String, _ path: [String], _ content: Data? = nil, tries: Int = 3
  ) async throws(PushServiceError) -> Data {
    try await exchange(ServiceRequest(method: method, path: path, content: content), tries: tries).content
  }

  /// Sends a request, with retries after temporary failures.
  /// - Returns: a success, or 304.
  func exchange(
    _ request: ServiceRequest, tries: Int = 3
  ) async throws(PushServiceError) -> (content: Data, answer: HTTPURLResponse) {
    var pause = Duration.milliseconds(500)
    for _ in 1..<tries {
      do throws(PushServiceError) {
        return try await exchangeOnce(request)
      } catch {
        guard error.isTemporary, !Task.isCancelled else { throw error }
        // After a cancelled sleep the last try below fails at once.
        try? await sleep(min(max(error.retryAfter ?? pause, pause), Self.pauseMax))
        pause *= 2
      }
    }
    return try await exchangeOnce(request)
  }

  private func exchangeOnce(
    _ described: ServiceRequest
  ) async throws(PushServiceError) -> (content: Data, answer: HTTPURLResponse) {
    var request = URLRequest(url: described.url(at: origin))
    request.httpMethod = described.method
    for (name, value) in described.fields { request.setValue(value, forHTTPHeaderField: name) }
    request.timeoutInterval = 15
    do { request.setValue("Bearer \(try await token())", forHTTPHeaderField: "Authorization") } catch {
      throw PushServiceError(.noToken)
    }
    if let content = described.content {
      request.httpBody = content
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    guard let (data, answer) = try? await transport.data(for: request), let answer = answer as? HTTPURLResponse else {
      throw PushServiceError(.unreachable)
    }
    guard (200..<300).contains(answer.statusCode) || answer.statusCode == 304 else {
      throw PushServiceError(
        status: answer.statusCode, content: data, retryAfter: answer.value(forHTTPHeaderField: "Retry-After"))
    }
    guard data.count <= Self.answerBytesMax else { throw PushServiceError(.refused) }
    return (data, answer)
  }
}

/// A request, before it has an address and a token.
struct ServiceRequest {
  let method: String
  let path: [String]
  var query: [URLQueryItem] = []
  var fields: [String: String] = [:]
  var content: Data?

  func url(at origin: URL) -> URL {
    guard var parts = URLComponents(url: origin, resolvingAgainstBaseURL: true) else { return origin }
    if parts.percentEncodedPath.hasSuffix("/") { parts.percentEncodedPath.removeLast() }
    // Each element is one segment, also with a slash in it (RFC 3986 §3.3).
    let segments = path.map { $0.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "" }
    parts.percentEncodedPath += segments.map { "/" + $0 }.joined()
    if !query.isEmpty { parts.queryItems = query }
    return parts.url ?? origin
  }

  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

extension JSONEncoder {
  /// A document of strings and finite numbers, which cannot fail to encode.
  func content(_ document: some Encodable) -> Data {
    guard let data = try? encode(document) else { preconditionFailure("a request could not be encoded") }
    return data
  }
}

/// The result of a call that marks messages as read.
public struct ReadReceipt: Hashable, Sendable, Decodable {
  /// Messages that this call has marked.
  public let read: Int
  /// The user's unread messages in all conversations.
  public let badge: Int

  init(content: Data) throws(PushServiceError) {
    guard let receipt = try? JSONDecoder().decode(Self.self, from: content) else { throw PushServiceError(.refused) }
    self = receipt
  }
}

/// The content of such a call.
struct ReadMark: Encodable {
  let upTo: String?
  let deviceToken: String?

  private enum CodingKeys: String, CodingKey {
    case upTo = "up_to_message_id"
    case deviceToken = "device_token"
  }
}

/// Why a call failed.
public struct PushServiceError: Error, Hashable, Sendable {
  /// The kind of failure, by the app's possible reaction.
  public enum Code: Hashable, Sendable {
    /// No response: the network or the service is unreachable. Try again later.
    case unreachable
    /// The service is overloaded, or its database is unavailable. Try again later.
    case unavailable
    /// The token is not valid. Renew it, or ask the user to log in again.
    case unauthorized
    /// The user is not a participant.
    case forbidden
    /// The object does not exist.
    case notFound
    /// The service refuses the request: a mistake of the app, or incompatible versions.
    case refused
    /// The app could not provide a token.
    case noToken
  }

  /// The kind of failure.
  public let code: Code

  /// The HTTP status; nil without a response.
  public var status: Int?
  /// The service's explanation for a developer.
  public var detail: String?
  /// The wrong member of the request's content.
  public var field: String?
  /// The wait that the service asks for.
  public var retryAfter: Duration?

  /// Whether the same call may succeed later.
  public var isTemporary: Bool { code == .unreachable || code == .unavailable || code == .noToken }

  init(_ code: Code) { self.code = code }

  /// The error of a response.
  init(status: Int, content: Data, retryAfter: String?) {
    switch status {
    case 401: code = .unauthorized
    case 403: code = .forbidden
    case 404: code = .notFound
    case 408, 429, 500...: code = .unavailable
    default: code = .refused
    }
    self.status = status
    let problem = try? JSONDecoder().decode(Problem.self, from: content)
    detail = problem?.detail ?? problem?.title
    field = problem?.field
    self.retryAfter = retryAfter.flatMap(Int.init).flatMap { $0 >= 0 ? .seconds($0) : nil }
  }

  /// Problem details (RFC 9457).
  private struct Problem: Decodable {
    let title: String?
    let detail: String?
    let field: String?
  }
}

/// Carries a request to the service and its response back. `URLSession` conforms. Tests and apps with another network
/// stack may replace it.
public protocol ClientTransport: Sendable {
  /// The response and its content.
  /// - Throws: when no response came. Every error counts as an unreachable network.
  func data(for request: URLRequest) async throws -> (Data, URLResponse)
}

extension URLSession: ClientTransport {
  /// Sends the request without a delegate.
  public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    try await data(for: request, delegate: nil)
  }
}
