import FoundationEssentials
import HTTPTypes
import Operations
import Testing

@testable import API

@Suite("Signatures of webhooks that are sent")
struct WebhookSignerTests {
  /// The published example of Standard Webhooks, of the secret `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`.
  private static let key = Array(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") ?? Data())
  private static let body = Array(#"{"test": 2432232314}"#.utf8)

  @Test("the published example has the published signature")
  func example() {
    let fields = WebhookSigner(keys: [Self.key]).fields(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Self.body)
    #expect(fields[.webhookID] == "msg_p5jXN8AQM9LWM0D4loKWxJek")
    #expect(fields[.webhookTimestamp] == "1614265330")
    #expect(fields[.webhookSignature] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test("with several keys a receiver may know any of them, and another content is none of theirs")
  func several() throws {
    let keys = [Self.key, Array("a second key of the test".utf8)]
    let fields = WebhookSigner(keys: keys).fields(id: "1", timestamp: 100, body: Self.body)
    let signature = try #require(WebhookSignature(fields, now: 100))
    for key in keys {
      let receiver = WebhookAuthentication([.init(bearer: "none", signingKey: key)])
      #expect(receiver.accepts(signature, of: Self.body))
      #expect(!receiver.accepts(signature, of: Self.body + [0]))
    }
    let stranger = WebhookAuthentication([.init(bearer: "none", signingKey: Array("another key".utf8))])
    #expect(!stranger.accepts(signature, of: Self.body))
  }
}
