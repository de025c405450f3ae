import Cryptography
import Testing

@testable import Channels

@Suite("Keys of subscriptions")
struct WebPushSubscriptionTests {
  private static let p256dh =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
  private static let auth = "BTBZMqHH6r4Tts7J_aSIgg"

  private func code(_ p256dh: String, _ auth: String) -> WebPushError.Code? {
    do throws(WebPushError) {
      _ = try WebPushKeys(p256dh: p256dh, auth: auth)
      return nil
    } catch {
      return error.code
    }
  }

  @Test("keys are read with and without padding")
  func padding() throws {
    let keys = try WebPushKeys(p256dh: Self.p256dh, auth: Self.auth)
    #expect(try WebPushKeys(p256dh: Self.p256dh + "=", auth: Self.auth + "==") == keys)
    #expect(keys.authenticationSecret.count == 16)
    #expect(Base64URL.encode(keys.publicKey.x963) == Self.p256dh)
  }

  @Test("keys cut at any byte, or longer, are refused")
  func cuts() {
    for count in 0..<Self.p256dh.utf8.count {
      #expect(code(String(Self.p256dh.prefix(count)), Self.auth) == .publicKeyMalformed)
    }
    for count in 0..<Self.auth.utf8.count {
      #expect(code(Self.p256dh, String(Self.auth.prefix(count))) == .authenticationSecretMalformed)
    }
    for more in ["A", "==", "A=", "===", String(repeating: "=", count: 1_000_000)] {
      #expect(code(Self.p256dh + more, Self.auth) == .publicKeyMalformed)
    }
    for more in ["A", "=", "A=", "===", "===="] {
      #expect(code(Self.p256dh, Self.auth + more) == .authenticationSecretMalformed)
    }
  }

  @Test("points that are not on the curve, or in another form, are refused")
  func points() {
    var point = bytes(Self.p256dh)
    point[64] ^= 1
    #expect(code(Base64URL.encode(point), Self.auth) == .publicKeyMalformed)
    for form: UInt8 in [0, 2, 3, 5, 6, 7] {
      point = bytes(Self.p256dh)
      point[0] = form
      #expect(code(Base64URL.encode(point), Self.auth) == .publicKeyMalformed)
    }
    #expect(code(Base64URL.encode([UInt8](repeating: 0, count: 65)), Self.auth) == .publicKeyMalformed)
    #expect(code(Base64URL.encode([4] + [UInt8](repeating: 255, count: 64)), Self.auth) == .publicKeyMalformed)
  }

  @Test("the other alphabet of base64 and trailing bits are refused", arguments: ["+", "/", " ", "\n", "ä"])
  func alphabet(_ character: String) {
    #expect(code(Self.p256dh.replacing("_", with: character), Self.auth) == .publicKeyMalformed)
    #expect(code(Self.p256dh, Self.auth.replacing("_", with: character)) == .authenticationSecretMalformed)
    #expect(code(Self.p256dh, String(Self.auth.dropLast()) + "h") == .authenticationSecretMalformed)
  }
}
