import Cryptography
import FoundationEssentials
import HTTPTypes
import Operations
import Testing

@testable import API

extension WebhookAuthentication {
  /// Whether a webhook with this head and content is let in, as the route does it.
  fileprivate func accepts(_ fields: HTTPFields, body: [UInt8], now: Int64) -> Bool {
    acceptsBearer(fields) || WebhookSignature(fields, now: now).map { accepts($0, of: body) } ?? false
  }
}

@Suite("Webhook authentication")
struct WebhookAuthenticationTests {
  private static let now: Int64 = 1_674_087_231
  private static let body = Array(#"{"test": 2432232314}"#.utf8)

  /// The published example of Standard Webhooks: `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`.
  private static let exampleKey = Array(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") ?? Data())
  private static let otherKey = Array("a second key".utf8)

  private let authentication = WebhookAuthentication([
    WebhookAuthentication.Key(bearer: "first secret", signingKey: exampleKey),
    WebhookAuthentication.Key(bearer: "second", signingKey: otherKey),
  ])

  private func accepts(_ fields: HTTPFields, body: [UInt8] = body, now: Int64 = now) -> Bool {
    authentication.accepts(fields, body: body, now: now)
  }

  private static func signature(
    of body: [UInt8] = body, id: String = "msg_1", timestamp: String, key: [UInt8] = exampleKey
  ) -> String {
    let signed = Array("\(id).\(timestamp).".utf8) + body
    let code = HMACSHA256(key: key).code(for: signed)
    return "v1," + Data(code.bytes).base64EncodedString()
  }

  private static func fields(
    id: String? = "msg_1", timestamp: String? = "\(now)", signature: String?
  ) -> HTTPFields {
    var fields = HTTPFields()
    fields[.webhookID] = id
    fields[.webhookTimestamp] = timestamp
    fields[.webhookSignature] = signature
    return fields
  }

  @Test(
    "a bearer secret is accepted exactly",
    arguments: [
      ("Bearer first secret", true), ("bearer second", true), ("BEARER second", true), ("Bearer third", false),
      ("Bearer first", false), ("Bearer FIRST SECRET", false), ("Bearer", false),
      ("Bearer ", false), ("", false), ("Basic second", false), ("second", false), ("Bearer,second", false),
    ])
  func bearer(value: String, isAccepted: Bool) {
    #expect(accepts([.authorization: value]) == isAccepted)
  }

  @Test("without a secret and a signature nothing is accepted, and without keys nothing ever")
  func nothing() {
    #expect(!accepts([:]))
    let signed = Self.fields(signature: Self.signature(timestamp: "\(Self.now)"))
    #expect(!WebhookAuthentication([]).accepts(signed, body: Self.body, now: Self.now))
    #expect(!WebhookAuthentication([]).accepts([.authorization: "Bearer "], body: Self.body, now: Self.now))
  }

  @Test("a signature made by any other implementation is accepted")
  func knownVector() {
    // Computed with `openssl dgst -sha256 -hmac` over `msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}`.
    let fields = Self.fields(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330",
      signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    #expect(accepts(fields, now: 1_614_265_330))
  }

  @Test("a signature holds for its body, its id and its key alone")
  func tampering() {
    let timestamp = "\(Self.now)"
    let signature = Self.signature(timestamp: timestamp)
    #expect(accepts(Self.fields(signature: signature)))
    #expect(!accepts(Self.fields(signature: signature), body: Self.body + [0x20]))
    #expect(!accepts(Self.fields(signature: signature), body: []))
    #expect(!accepts(Self.fields(id: "msg_2", signature: signature)))
    #expect(!accepts(Self.fields(timestamp: "\(Self.now + 1)", signature: signature)))
    #expect(!accepts(Self.fields(signature: Self.signature(timestamp: timestamp, key: Array("a third".utf8)))))
    #expect(accepts(Self.fields(signature: Self.signature(timestamp: timestamp, key: Self.otherKey))))
  }

  @Test("every part of a signature must be there", arguments: 0..<3)
  func missing(part: Int) {
    let signature = Self.signature(timestamp: "\(Self.now)")
    let fields = Self.fields(
      id: part == 0 ? nil : "msg_1", timestamp: part == 1 ? nil : "\(Self.now)", signature: part == 2 ? nil : signature)
    #expect(!accepts(fields))
  }

  @Test(
    "five minutes either way are tolerated",
    arguments: [
      (-301, false), (-300, true), (-299, true), (0, true), (299, true), (300, true), (301, false),
    ])
  func tolerance(seconds: Int64, isAccepted: Bool) {
    let timestamp = "\(Self.now + seconds)"
    #expect(accepts(Self.fields(timestamp: timestamp, signature: Self.signature(timestamp: timestamp))) == isAccepted)
  }

  @Test(
    "a clock that stands before 1970, or far from it, is compared like any other",
    arguments: [
      (-300, "0", true), (-301, "0", false), (-1, "299", true), (-1, "300", false), (0, "0", true), (300, "0", true),
      (301, "0", false), (1 << 53, "9007199254740992", true), (1 << 53, "9007199254741293", false), (-60, "-60", false),
    ] as [(Int64, String, Bool)])
  func strangeClocks(clock: Int64, timestamp: String, isAccepted: Bool) {
    let fields = Self.fields(timestamp: timestamp, signature: Self.signature(timestamp: timestamp))
    #expect(accepts(fields, now: clock) == isAccepted)
  }

  @Test(
    "a time that is none, or beyond all bounds, is refused and harms nobody",
    arguments: [
      "", " ", "now", "1.5", "0x10", "-1", "+\(now)", "\(now) ", "99999999999999999999", "\(Int64.min)", "\(Int64.max)",
      "\(Int64.min + now)",
      "\(Int64.min + now + 1)", "\(Int64.min + now - 1)", "\(Int64.max - now)",
    ])
  func strangeTimes(timestamp: String) {
    #expect(!accepts(Self.fields(timestamp: timestamp, signature: Self.signature(timestamp: timestamp))))
  }

  @Test("one good signature in the list is enough; unknown versions and garbage are skipped")
  func lists() {
    let good = Self.signature(timestamp: "\(Self.now)")
    let bad = Self.signature(timestamp: "0")
    let bare = String(good.dropFirst(3))
    for list in [
      "\(bad) \(good)", "v1a,AAAA v2,\(bare) \(good)", "v1,@@@ \(good)", "v1, \(good)", "  \(good)  ", "\(good) \(bad)",
    ] {
      #expect(accepts(Self.fields(signature: list)), "\(list)")
    }
    for list in ["", " ", "v1,", "v1", bare, "v2,\(bare)", "V1,\(bare)", "v1a,\(bare)", "v1,\(bare.dropLast(2))"] {
      #expect(!accepts(Self.fields(signature: list)), "\(list)")
    }
  }

  @Test("only the first eight signatures are looked at", arguments: [(7, true), (8, false)])
  func longList(before: Int, isAccepted: Bool) {
    let list = Array(repeating: "v1,AAAA", count: before) + [Self.signature(timestamp: "\(Self.now)")]
    #expect(accepts(Self.fields(signature: list.joined(separator: " "))) == isAccepted)
  }

  @Test("either way is enough: a signature counts beside an Authorization field that is meant for somebody else")
  func either() {
    var fields = Self.fields(signature: Self.signature(timestamp: "\(Self.now)"))
    fields[.authorization] = "Bearer of a gateway"
    #expect(accepts(fields))
    fields[.webhookSignature] = "v1,AAAA"
    #expect(!accepts(fields))
    fields[.authorization] = "Bearer second"
    #expect(accepts(fields))
  }
}

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
}

@Suite("Tokens of service workers")
struct WorkerTokensTests {
  private static func tokens(_ secrets: String...) -> WorkerTokens {
    WebhookAuthentication(secrets.map { .init(bearer: $0, signingKey: Array($0.utf8)) }).workerTokens
  }

  @Test("one that was made with a secret is known with it, also beside a newer one, and by nobody else")
  func rotation() {
    let token = Self.tokens("old").make()
    #expect(token.utf8.count == 43)
    #expect(Self.tokens("old").accepts(token) && Self.tokens("new", "old").accepts(token))
    #expect(!Self.tokens("new").accepts(token) && !Self.tokens().accepts(token))
    #expect(Self.tokens("old").make() != token)
  }

  @Test("no other text is one, and no token with another bit")
  func others() throws {
    let tokens = Self.tokens("secret")
    let bytes = try #require(Base64URL.decode(tokens.make().utf8))
    #expect(tokens.accepts(Base64URL.encode(bytes)))
    for bit in 0..<256 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(!tokens.accepts(Base64URL.encode(changed)))
    }
    for text in [
      "", "secret", String(repeating: "A", count: 43), Base64URL.encode(bytes + [0]),
      Base64URL.encode(bytes.dropLast()),
    ] {
      #expect(!tokens.accepts(text))
    }
  }
}
