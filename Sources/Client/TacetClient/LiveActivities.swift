public import Foundation

/// Reports the tokens of Live Activities to the service as they change.
///
/// A token is reported once a start of the app, and again when it or the device token has changed. A report that fails for
/// a while is repeated with growing pauses, and of several tokens of one activity the newest counts. Nothing is reported
/// before the device token is known. No token is stored.
public actor ActivityTokens {
  /// What a token belongs to.
  private enum Subject: Hashable {
    case start(type: String)
    case activity(id: String)
  }

  /// A token and the device that has it.
  private struct Report: Hashable {
    let token: Data
    let deviceToken: Data
  }

  /// The pauses after the first failure and at most.
  static let pauseMin = Duration.seconds(15)
  static let pauseMax = Duration.seconds(60)
  /// The longest token, in bytes. The service takes no longer one.
  static let tokenBytesMax = 256

  private let client: PushServiceClient
  private let environment: DeviceRegistration.Environment?
  private let app: String?
  private let sleep: @Sendable (Duration) async throws -> Void
  private var deviceToken: Data?
  private var tokens: [Subject: Data] = [:]
  private var settled: [Subject: Report] = [:]
  private var reporting: Task<Void, Never>?

  /// - Parameters:
  ///   - environment: of the tokens; nil for the service's default.
  ///   - app: the bundle identifier; nil for the service's default.
  public init(
    _ client: PushServiceClient, environment: DeviceRegistration.Environment? = nil,
    app: String? = Bundle.main.bundleIdentifier
  ) {
    self.init(client, environment: environment, app: app) { try await Task.sleep(for: $0) }
  }

  init(
    _ client: PushServiceClient, environment: DeviceRegistration.Environment?, app: String?,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.client = client
    self.environment = environment
    self.app = app
    self.sleep = sleep
  }

  deinit { reporting?.cancel() }

  /// Sets the device token; call it after ``PushServiceClient/register(_:)``. Another one reports all tokens again.
  public func use(deviceToken: Data) {
    self.deviceToken = deviceToken
    start()
  }

  /// Takes an element of `pushToStartTokenUpdates`.
  /// - Parameter type: the name of the attributes in Swift.
  public func take(startToken: Data, of type: String) { take(startToken, .start(type: type)) }

  /// Takes an element of `pushTokenUpdates`.
  /// - Parameter id: the service's id of the Live Activity.
  public func take(updateToken: Data, ofActivity id: String) { take(updateToken, .activity(id: id)) }

  /// Forgets a Live Activity that has ended.
  public func end(activity id: String) {
    tokens[.activity(id: id)] = nil
    settled[.activity(id: id)] = nil
  }

  /// Forgets everything. Call it when the user logs out.
  public func clear() {
    reporting?.cancel()
    reporting = nil
    (tokens, settled, deviceToken) = ([:], [:], nil)
  }

  /// Waits until all tokens are reported.
  func settle() async { await reporting?.value }

  private func take(_ token: Data, _ subject: Subject) {
    guard (1...Self.tokenBytesMax).contains(token.count) else { return }
    tokens[subject] = token
    start()
  }

  private func start() {
    guard reporting == nil, next != nil else { return }
    reporting = Task { [weak self, sleep] in
      var pause = Self.pauseMin
      while let isDone = await self?.reportAll(), !isDone {
        do { try await sleep(pause) } catch { return }
        pause = min(pause * 2, Self.pauseMax)
      }
    }
  }

  /// What is not reported yet.
  private var next: (subject: Subject, report: Report)? {
    guard let deviceToken else { return nil }
    let open = tokens.lazy.map { ($0, Report(token: $1, deviceToken: deviceToken)) }
    return open.first { self.settled[$0] != $1 }.map { (subject: $0, report: $1) }
  }

  /// - Returns: false after a temporary failure.
  private func reportAll() async -> Bool {
    while let (subject, report) = next {
      do throws(PushServiceError) { try await send(report, of: subject) } catch {
        if Task.isCancelled { return true }
        // Another failure is final for this token.
        if error.isTemporary || error.code == .unauthorized { return false }
      }
      if Task.isCancelled { return true }
      if tokens[subject] != nil { settled[subject] = report }
    }
    reporting = nil
    return true
  }

  private func send(_ report: Report, of subject: Subject) async throws(PushServiceError) {
    switch subject {
    case .start(let type):
      try await client.registerStartToken(
        report.token, of: type, deviceToken: report.deviceToken, environment: environment, app: app)
    case .activity(let id):
      try await client.registerUpdateToken(
        report.token, ofActivity: id, deviceToken: report.deviceToken, environment: environment, app: app)
    }
  }
}

// Live Activities: the tokens by which the service starts and updates them.
extension PushServiceClient {
  /// Registers the token by which the service starts Live Activities of a type on a device (iOS 17.2). ``ActivityTokens``
  /// calls it as tokens change.
  /// - Parameters:
  ///   - type: the name of the attributes in Swift, such as `WorkoutActivityAttributes`.
  ///   - environment: of the token; nil for the service's default.
  ///   - app: the bundle identifier; nil for the service's default.
  public func registerStartToken(
    _ token: Data, of type: String, deviceToken: Data, environment: DeviceRegistration.Environment? = nil,
    app: String? = Bundle.main.bundleIdentifier
  ) async throws(PushServiceError) {
    let content = ActivityToken(token: token, deviceToken: nil, environment: environment, app: app)
    _ = try await send("PUT", Self.startPath(type, deviceToken), JSONEncoder().content(content))
  }

  /// Ends starts of a type on a device.
  public func removeStartToken(of type: String, deviceToken: Data) async throws(PushServiceError) {
    _ = try await send("DELETE", Self.startPath(type, deviceToken))
  }

  /// Registers the token by which the service updates and ends a Live Activity.
  /// - Parameter id: the service's id of it, 1 to 128 visible ASCII characters.
  public func registerUpdateToken(
    _ token: Data, ofActivity id: String, deviceToken: Data?, environment: DeviceRegistration.Environment? = nil,
    app: String? = Bundle.main.bundleIdentifier
  ) async throws(PushServiceError) {
    let content = ActivityToken(token: token, deviceToken: deviceToken, environment: environment, app: app)
    _ = try await send("PUT", ["v1", "live-activities", id, "token"], JSONEncoder().content(content))
  }

  /// Announces a Live Activity that the app has started itself. Call it before its token is registered.
  /// - Parameters:
  ///   - id: chosen by the app, 1 to 128 visible ASCII characters.
  ///   - type: the name of the attributes in Swift.
  ///   - attributes: the fields of the type; dates are sent as RFC 3339 text.
  ///   - state: its first state, likewise.
  public func announceActivity(
    _ id: String, of type: String, attributes: some Encodable, state: some Encodable
  ) async throws(PushServiceError) {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    let announcement = ActivityAnnouncement(type: type, attributes: attributes, state: state)
    guard let content = try? encoder.encode(announcement) else { throw PushServiceError(.refused) }
    _ = try await send("PUT", ["v1", "live-activities", id], content)
  }

  private static func startPath(_ type: String, _ deviceToken: Data) -> [String] {
    ["v1", "devices", DeviceRegistration.text(of: deviceToken), "push-to-start", type]
  }
}

/// The content of a call that registers a token.
private struct ActivityToken: Encodable {
  let token: String
  let deviceToken: String?
  let environment: DeviceRegistration.Environment?
  let app: String?

  init(token: Data, deviceToken: Data?, environment: DeviceRegistration.Environment?, app: String?) {
    self.token = DeviceRegistration.text(of: token)
    self.deviceToken = deviceToken.map(DeviceRegistration.text)
    self.environment = environment
    self.app = app
  }

  private enum CodingKeys: String, CodingKey {
    case token, environment, app
    case deviceToken = "device_token"
  }
}

/// The content of an announcement.
private struct ActivityAnnouncement<Attributes: Encodable, State: Encodable>: Encodable {
  let type: String
  let attributes: Attributes
  let state: State
}
