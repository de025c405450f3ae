/// Why a push is refused: a status and the reason that goes with it in Apple's table.
struct Refusal: Error, Equatable {
  let status: Int
  let reason: String
  /// Milliseconds since 1970; only 410 has it.
  var timestampMilliseconds: Int64?

  static func badRequest(_ reason: String) -> Refusal { Refusal(status: 400, reason: reason) }
  static func forbidden(_ reason: String) -> Refusal { Refusal(status: 403, reason: reason) }

  static let badPath = Refusal(status: 404, reason: "BadPath")
  static let methodNotAllowed = Refusal(status: 405, reason: "MethodNotAllowed")
  static let payloadTooLarge = Refusal(status: 413, reason: "PayloadTooLarge")
  static let tooManyProviderTokenUpdates = Refusal(status: 429, reason: "TooManyProviderTokenUpdates")
  static let tooManyRequests = Refusal(status: 429, reason: "TooManyRequests")
  static let missingProviderToken = Refusal.forbidden("MissingProviderToken")
  static let invalidProviderToken = Refusal.forbidden("InvalidProviderToken")

  static func gone(_ end: RegisteredDevice.End) -> Refusal {
    switch end {
    case .unregistered(let moment): Refusal(status: 410, reason: "Unregistered", timestampMilliseconds: moment)
    case .expired(let moment): Refusal(status: 410, reason: "ExpiredToken", timestampMilliseconds: moment)
    }
  }
}
