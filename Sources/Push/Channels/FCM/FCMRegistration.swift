internal import FoundationEssentials
internal import PushRules

extension TargetRegistration {
  /// FCM forgets a token whose app it has not heard of for 270 days. Source: "Best practices for FCM registration token management".
  private static let tokenMicroseconds: Int64 = 270 * 86_400 * 1_000_000

  /// An Android app tells its registration token or Firebase Installation ID, and the application's id.
  package static let fcm = TargetRegistration(
    .fcm, path: "/v1/fcm/registrations",
    registered: Document("token", "app", "sealing_key") { body in
      let token = try body.decode(String.self, forKey: "token")
      try body.require(
        token.isVisibleASCII(upTo: PushTarget.addressBytesMax), "token",
        "must be 1 to \(PushTarget.addressBytesMax) visible ASCII characters")
      let app = try body.decodeText("app", "must be the id of an application") { (1...255).contains($0.utf8.count) }
      var target = Target(PushTarget(.fcm, address: token, app: app))
      target.sealingKey = try body.decodeSealingKey()
      target.expiresAt = Int64(Date().timeIntervalSince1970 * 1_000_000) + tokenMicroseconds
      return target
    })
}
