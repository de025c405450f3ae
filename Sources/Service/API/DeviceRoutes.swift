internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import PushRules
internal import PushStore
internal import Reactors

/// `PUT` and `DELETE /v1/devices/{token}`: an app registers its device token for a user, and logs the user out.
enum DeviceRoutes {
  /// - Parameter devicesMax: devices that a user keeps, the last registered ones.
  static func add(to group: inout RouteGroup, _ services: PerReactor<PushServices>, devicesMax: Int) {
    let logger = group.logger
    group.addForClients(.put, "/v1/devices/{token}", hasContent: true, load: .write) { user, request, reactor in
      let body = try RequestContent.decode(DeviceBody.self, from: request.body)
      let device = body.registration(of: try token(in: request))
      let services = services.value(on: reactor)
      let outcome = try await services.callers.register(device, of: user, devicesMax: devicesMax, on: reactor)
      guard outcome != .unknownUser else { throw ProblemDetails(.notFound, detail: "There is no such user.") }
      await services.tellSlots(of: user, logger, on: reactor)
      return body.owner.answer(to: outcome)
    }
    // The answer does not depend on who has the token, so a caller cannot learn whether a guessed one is in use.
    group.addForClients(.delete, "/v1/devices/{token}", load: .write) { user, request, reactor in
      let token = try token(in: request)
      _ = try await services.value(on: reactor).callers.removeDevice(token, of: user, on: reactor)
      return HTTPServerResponse(status: .noContent)
    }
  }

  static let tokenDemand = "must be an even number of hexadecimal digits, \(DeviceToken.digitsMax) at the most"

  /// In lower case: one token has one spelling.
  static func token(in request: HTTPServerRequest) throws(ProblemDetails) -> String {
    do throws(PushRequestError) {
      return try DeviceToken(request.parameter("token")).hexadecimal
    } catch {
      throw .content("token", "token \(tokenDemand).")
    }
  }
}

/// What an app says of its device; nothing of it is required.
struct DeviceBody: Decodable, Equatable {
  let environment: String?
  let app: String?
  let platform: String?
  let owner: TargetOwner
  let authorization: String?
  let sealingKey: String?

  /// What the system lets an app show.
  static let authorizations = ["authorized", "provisional", "denied", "not_determined"]

  static let platforms = ["ios", "ipados", "macos", "tvos", "visionos", "watchos"]

  private enum Key: String, CodingKey, CaseIterable {
    case environment, app, platform, locale, authorization, content
    case timeZone = "time_zone"
    case sealingKey = "sealing_key"
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(Key.self)
    environment = try body.decodeEnvironment(.environment)
    app = try body.decodeApp(.app)
    platform = try body.decodeText(.platform, "must be a system that APNs delivers to", Self.platforms.contains)
    owner = try TargetOwner(from: decoder)
    authorization = try body.decodeText(
      .authorization, "must be \(Self.authorizations.joined(separator: ", "))", Self.authorizations.contains)
    sealingKey = try body.decodeSealingKey(.sealingKey)
  }

  func registration(of token: String) -> RegisteredDevice {
    var device = RegisteredDevice(token: token)
    device.environment = environment
    device.app = app
    device.platform = platform
    device.locale = owner.locale
    device.timeZone = owner.timeZone
    device.authorization = authorization
    device.content = owner.content
    device.sealingKey = sealingKey
    return device
  }
}

extension KeyedDecodingContainer {
  /// A bundle identifier; nil when it is absent or null.
  func decodeApp(_ key: Key) throws -> String? {
    try decodeText(key, "must be a bundle identifier") { (try? BundleIdentifier($0)) != nil }
  }

  /// An APNs environment; nil when it is absent or null.
  func decodeEnvironment(_ key: Key) throws -> String? {
    try decodeText(key, "must be production or sandbox") { APNSEnvironment(rawValue: $0) != nil }
  }

  /// What pushes may say; nil when it is absent or null.
  func decodeContent(_ key: Key) throws -> String? {
    try decodeText(key, "must be full, sender, none or sealed") { ContentChoice(rawValue: $0) != nil }
  }

  /// A public key of X25519 for which content can be sealed; nil when it is absent or null.
  func decodeSealingKey(_ key: Key) throws -> String? {
    try decodeText(key, "must be the 32 bytes of an X25519 public key in base64url") {
      SealingKey(text: $0)?.isUsable == true
    }
  }
}
