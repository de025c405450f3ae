public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// What an app tells the push service: what its user looks at and reads, where pushes may go, and which were opened.
///
/// Every call may be made again: none does more the second time. A call that fails for a while is tried three times,
/// half a second and then a second apart or as the service asks, before its error is thrown.
public struct PushServiceClient: Sendable {
  /// The user's token, as the app's log-in has it now; asked for before each try, so that a renewed one is used.
  public typealias TokenProvider = @Sendable () async throws -> String

  private let origin: URL
  private let transport: any ClientTransport
  private let token: TokenProvider
  let presence = SurfacePresence()
  let sleep: @Sendable (Duration) async throws -> Void

  /// The longest pause before another try, however long the service asks for: a user waits for the answer.
  static let pauseMax = Duration.seconds(10)

  /// Makes a client; it opens nothing yet.
  /// - Parameters:
  ///   - origin: where the service is, e.g. `https://push.example.com`; a path in it is kept in front of the service's own.
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

  /// Registers a device for the user, or refreshes what is known of it; to be called at every start of the app, as
  /// tokens change. It takes the token from any user who had it before.
  ///
  /// A time zone that is newer than the service's database is left out.
  public func register(_ device: DeviceRegistration) async throws(PushServiceError) {
    do throws(PushServiceError) {
      _ = try await send("PUT", ["v1", "devices", device.token], JSONEncoder().content(device))
    } catch {
      guard error.field == "time_zone", device.timeZone != nil else { throw error }
      var device = device
      device.timeZone = nil
      try await register(device)
    }
  }

  /// Ends pushes to a device; to be called before the user logs out.
  public func removeDevice(token deviceToken: Data) async throws(PushServiceError) {
    _ = try await send("DELETE", ["v1", "devices", DeviceRegistration.text(of: deviceToken)])
  }

  /// Marks messages of a conversation as read, and clears their pushes on the user's other devices.
  /// - Parameters:
  ///   - messageID: the newest that was read; nil for all.
  ///   - deviceToken: of this device, which clears its pushes itself; nil tells all devices of the user.
  /// - Returns: what is left to read, for the app's icon.
  @discardableResult
  public func markRead(
    conversation: UUID, upTo messageID: UUID? = nil, deviceToken: Data? = nil
  ) async throws(PushServiceError) -> ReadReceipt {
    let mark = ReadMark(
      upTo: messageID?.uuidString.lowercased(), deviceToken: deviceToken.map(DeviceRegistration.text))
    let path = ["v1", "conversations", conversation.uuidString.lowercased(), "read"]
    return try ReadReceipt(content: await send("POST", path, JSONEncoder().content(mark)))
  }

  /// Reports that the user has opened the app by a push.
  /// - Parameter pushLogID: `push_log_id` in the push's custom data.
  public func opened(_ pushLogID: UUID) async throws(PushServiceError) {
    _ = try await send("POST", ["v1", "pushes", pushLogID.uuidString.lowercased(), "opened"])
  }

  /// Sends a request as often as it takes, at most three times.
  /// - Returns: the content of a success.
  func send(
    _ method: String, _ path: [String], _ content: Data? = nil, tries: Int = 3
  ) async throws(PushServiceError) -> Data {
    var pause = Duration.milliseconds(500)
    for _ in 1..<tries {
      do throws(PushServiceError) {
        return try await sendOnce(method, path, content)
      } catch {
        guard error.isTemporary, !Task.isCancelled else { throw error }
        // A cancelled sleep ends the tries: the last one below then fails at once.
        try? await sleep(min(max(error.retryAfter ?? pause, pause), Self.pauseMax))
        pause *= 2
      }
    }
    return try await sendOnce(method, path, content)
  }

  private func sendOnce(_ method: String, _ path: [String], _ content: Data?) async throws(PushServiceError) -> Data {
    var request = URLRequest(url: path.reduce(origin) { $0.appendingPathComponent($1) })
    request.httpMethod = method
    request.timeoutInterval = 15
    do { request.setValue("Bearer \(try await token())", forHTTPHeaderField: "Authorization") } catch {
      throw PushServiceError(.noToken)
    }
    if let content {
      request.httpBody = content
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    guard let (data, answer) = try? await transport.data(for: request), let answer = answer as? HTTPURLResponse else {
      throw PushServiceError(.unreachable)
    }
    guard (200..<300).contains(answer.statusCode) else {
      throw PushServiceError(
        status: answer.statusCode, content: data, retryAfter: answer.value(forHTTPHeaderField: "Retry-After"))
    }
    return data
  }
}

extension JSONEncoder {
  /// A document of strings, which cannot fail to encode.
  fileprivate func content(_ document: some Encodable) -> Data {
    guard let data = try? encode(document) else { preconditionFailure("a request could not be encoded") }
    return data
  }
}

/// What a call that marks messages as read has done.
public struct ReadReceipt: Hashable, Sendable, Decodable {
  /// Messages that were marked by this call.
  public let read: Int

  /// Messages the user has not read, in all conversations.
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
