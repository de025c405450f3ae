import Cryptography
import Foundation
import HTTPTransfers
import HTTPTypes
import PushRules
import Reactors
import Testing
import WebPushSimulation

@testable import Channels

@Suite("The list of Web Push cases", .timeLimit(.minutes(1)))
struct WebPushCaseTests {
  @Test("the list has sixteen cases")
  func count() {
    #expect(WebPushCase.all.map(\.id) == (1...16).map { $0 < 10 ? "W0\($0)" : "W\($0)" })
  }

  @Test("Apple's face answers each case as listed, and the sender acts as listed", arguments: WebPushCase.all)
  func apple(_ listed: WebPushCase) async throws {
    let response = try await Self.play(listed, face: .apple)
    let expected = [listed.exp] + (listed.accept_also ?? [])
    #expect(expected.map(\.status).contains(response.status.code))
    let answer = WebPushAnswer(status: response.status.code, fields: response.fields, body: response.body, now: 0)
    if let reason = listed.exp.apple_reason { #expect(answer.reason == reason) }
    for (name, value) in listed.exp.headers ?? [:] { #expect(response.fields[HTTPField.Name(name)!] == value) }
    for name in listed.exp.headers_present ?? [] { #expect(response.fields[HTTPField.Name(name)!] != nil) }
    #expect(Self.clientCode(listed, response) == listed.client)
  }

  @Test(
    "the sender acts the same whichever service answers",
    arguments: [PushServiceFace.mozilla, .fcm, .wns].flatMap { face in WebPushCase.all.map { (face, $0) } })
  func others(_ face: PushServiceFace, _ listed: WebPushCase) async throws {
    // Windows takes up to 5000 bytes.
    if face == .wns, listed.id == "W13" { return }
    #expect(Self.clientCode(listed, try await Self.play(listed, face: face)) == listed.client)
  }

  /// Sends the request of a case to a stand-in in the state that its path names.
  private static func play(_ listed: WebPushCase, face: PushServiceFace) async throws -> HTTPTransferResponse {
    var response: HTTPTransferResponse?
    try await PushStand.run { stand in
      let key = P256PrivateKey()
      let identifier = String((listed.req.path ?? "/push/sub-ok").dropFirst("/push/".count))
      let state: SimulatedSubscription.State =
        switch identifier {
        case "sub-expired": .expired
        case "sub-gone": .gone
        default: .active
        }
      let subscription = try stand.subscribe(
        identifier, face: face, state: state, madeWith: Base64URL.encode(key.publicKey.x963))
      if identifier == "sub-busy" {
        stand.service.arrange(PushFault(.answer, status: 429, fields: ["retry-after": "30"]))
      }
      if identifier == "sub-500" { stand.service.arrange(PushFault(.answer, status: 500)) }
      let request = HTTPTransferRequest(
        .post, url: subscription.endpoint.url, fields: try fields(listed, key, origin: stand.origin),
        body: try body(listed, for: subscription.keys), deadline: .seconds(20))
      response = await stand.raw.perform { client, reactor in try? await client.send(request, on: reactor) }
    }
    return try #require(response)
  }

  private static func fields(_ listed: WebPushCase, _ key: P256PrivateKey, origin: String) throws -> HTTPFields {
    var texts: [String: String?] = [
      "ttl": "60", "urgency": "normal", "content-encoding": "aes128gcm", "content-type": "application/octet-stream",
    ]
    for (name, value) in listed.req.headers ?? [:] { texts.updateValue(value, forKey: name) }
    var fields = HTTPFields()
    for (name, value) in texts { fields[HTTPField.Name(name)!] = value }
    guard !listed.req.isWithoutVAPID else { return fields }
    let signing = listed.req.vapid?.key == "another_key" ? P256PrivateKey() : key
    let end = Int64(Date().timeIntervalSince1970) + expirationOffset(listed)
    let claims =
      #"{"aud":"\#(listed.req.vapid?.aud ?? origin)","exp":\#(end),"sub":"mailto:ops@example.test"}"#
    let signed = Base64URL.encode(#"{"typ":"JWT","alg":"ES256"}"#.utf8) + "." + Base64URL.encode(claims.utf8)
    let signature = Base64URL.encode(try signing.sign(Array(signed.utf8)).raw)
    fields[.authorization] = "vapid t=\(signed).\(signature), k=\(Base64URL.encode(signing.publicKey.x963))"
    return fields
  }

  private static func expirationOffset(_ listed: WebPushCase) -> Int64 {
    listed.req.vapid?.exp_offset_s ?? VAPIDSigner.lifetime
  }

  /// An encrypted body of the size in the list; a byte more than the largest has no encryption.
  private static func body(_ listed: WebPushCase, for keys: WebPushKeys) throws -> [UInt8] {
    guard let count = listed.req.encryptedBytes else {
      return try WebPushEncryption.encrypt(Array("hello".utf8), for: keys)
    }
    let whole = min(count, 4096)
    let content = [UInt8](repeating: 0x7A, count: whole - 103)
    return try WebPushEncryption.encrypt(content, for: keys) + [UInt8](repeating: 0, count: count - whole)
  }

  /// What the sender does, in the words of the list. A token's age follows from its end.
  private static func clientCode(_ listed: WebPushCase, _ response: HTTPTransferResponse) -> String {
    let answer = WebPushAnswer(status: response.status.code, fields: response.fields, body: response.body, now: 0)
    let age = VAPIDSigner.lifetime - expirationOffset(listed)
    let sent = WebPushAnswer.Sent(hasOtherKey: false, mayRenewToken: age >= VAPIDSigner.replacementAge)
    return switch answer.attempt(sent).disposition {
    case .accepted: "DONE"
    case .fixRequest: "FIX-REQ"
    case .fixCredentials: "FIX-CRED"
    case .refreshProviderToken: "REFRESH"
    case .dropToken: "DROP"
    case .never: "NEVER"
    case .retryLater: "LATER"
    case .suspectToken, .reconnect: "OTHER"
    }
  }
}
