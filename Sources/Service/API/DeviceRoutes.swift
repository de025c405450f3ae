internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import PushRules
internal import PushStore

/// `PUT` and `DELETE /v1/devices/{token}`: an app registers its device token for a user, and logs the user out.
enum DeviceRoutes {
  /// - Parameter devicesMax: devices that a user keeps, the last registered ones.
  static func add(to group: inout RouteGroup, devicesMax: Int) {
    group.addForClients(.put, "/v1/devices/{token}", hasContent: true, load: .write) {
      user, request, services, reactor in
      let body: DeviceBody = try RequestContent.decode(from: request.body)
      let device = body.registration(of: try token(in: request))
      let outcome = try await services.callers.register(device, of: user, devicesMax: devicesMax, on: reactor)
      guard outcome != .unknownUser else { throw ProblemDetails(.notFound, detail: "There is no such user.") }
      await services.tellSlots(of: user, on: reactor)
      return body.owner.answer(to: outcome)
    }
    // The answer does not depend on who has the token, so a caller cannot learn whether a guessed one is in use.
    group.addForClients(.delete, "/v1/devices/{token}", load: .write) { user, request, services, reactor in
      _ = try await services.callers.removeDevice(try token(in: request), of: user, on: reactor)
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
struct DeviceBody: Decodable {
  private var device = RegisteredDevice(token: "")
  let owner: TargetOwner

  /// What the system lets an app show.
  private static let authorizations = ["authorized", "provisional", "denied", "not_determined"]
  private static let platforms = ["ios", "ipados", "macos", "tvos", "visionos", "watchos"]

  init(from decoder: any Decoder) throws {
    let body = try decoder.members(
      "environment", "app", "platform", "authorization", "sealing_key", besides: TargetOwner.names)
    device.environment = try body.decodeEnvironment()
    device.app = try body.decodeApp()
    device.platform = try body.decodeText("platform", "must be a system that APNs delivers to", Self.platforms.contains)
    owner = try TargetOwner(body)
    device.authorization = try body.decodeText(
      "authorization", "must be \(Self.authorizations.joined(separator: ", "))", Self.authorizations.contains)
    device.sealingKey = try body.decodeSealingKey()
  }

  func registration(of token: String) -> RegisteredDevice {
    var device = device
    device.token = token
    (device.locale, device.timeZone, device.content) = (owner.locale, owner.timeZone, owner.content)
    return device
  }
}

/// What a registration says of the person. A device tells its locale and its zone as its system has them. What nobody knows of that is
/// left out, and the answer says so: the registration is worth more.
struct TargetOwner {
  let locale: String?
  let timeZone: String?
  let content: String?
  private var ignored: [String] = []

  static let names = ["locale", "time_zone", "content"]

  init(_ body: Members) throws {
    let toldLocale = try body.decodeIfPresent(String.self, forKey: "locale")
    let toldZone = try body.decodeIfPresent(String.self, forKey: "time_zone")
    locale = toldLocale.flatMap(LanguageTag.read)
    timeZone = toldZone.flatMap { TimeZoneName.isWellFormed($0) ? $0 : nil }
    content = try body.decodeContent()
    if toldLocale != nil, locale == nil { ignored.append("locale") }
    if toldZone != nil, timeZone == nil { ignored.append("time_zone") }
  }

  /// The members that a registration has left out, as JSON; nil for none.
  func ignored(by outcome: RegistrationOutcome) -> PayloadValue? {
    let names = ignored + (outcome == .registeredWithoutZone ? ["time_zone"] : [])
    return names.isEmpty ? nil : .array(names.map { .string($0) })
  }

  /// The answer of a registration that says nothing else.
  func answer(to outcome: RegistrationOutcome) -> HTTPServerResponse {
    ignored(by: outcome).map { HTTPServerResponse(["ignored": $0]) } ?? HTTPServerResponse(status: .noContent)
  }
}

// Each is nil when it is absent or null.
extension Members {
  /// A bundle identifier.
  func decodeApp() throws -> String? {
    try decodeText("app", "must be a bundle identifier") { (try? BundleIdentifier($0)) != nil }
  }

  /// An APNs environment.
  func decodeEnvironment() throws -> String? {
    try decodeText("environment", "must be production or sandbox") { APNSEnvironment(rawValue: $0) != nil }
  }

  /// What pushes may say.
  func decodeContent() throws -> String? {
    try decodeText("content", "must be full, sender, none or sealed") { ContentChoice(rawValue: $0) != nil }
  }
}
