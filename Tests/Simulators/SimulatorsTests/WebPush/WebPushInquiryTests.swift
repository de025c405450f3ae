import Cryptography
import Foundation
import HTTPTypes
import Testing

@testable import Simulators

@Suite("How the stand-in judges", .timeLimit(.minutes(5)))
struct WebPushInquiryTests {
  private static let key = P256PrivateKey()
  private static let keyText = Base64URL.encode(key.publicKey.x963)
  private static let encoded: HTTPFields = [.timeToLive: "60", .contentEncoding: "aes128gcm"]

  /// A VAPID field; each part can be wrong.
  private static func authorization(
    _ origin: String, expiresIn seconds: Int64 = 3600, header: String = #"{"typ":"JWT","alg":"ES256"}"#,
    subject: String? = #""mailto:ops@example.com""#, key: P256PrivateKey = key, shown: P256PrivateKey? = nil,
    expiration: String? = nil
  ) throws -> String {
    let end = expiration ?? "\(wallSeconds + seconds)"
    let claims = #"{"aud":"\#(origin)","exp":\#(end)\#(subject.map { #","sub":\#($0)"# } ?? "")}"#
    let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
    let signature = Base64URL.encode(try key.sign(Array(signed.utf8)).raw)
    return "vapid t=\(signed).\(signature), k=\(Base64URL.encode((shown ?? key).publicKey.x963))"
  }

  private static var wallSeconds: Int64 { Int64(Date().timeIntervalSince1970) }

  private static func status(
    _ face: PushServiceFace, _ fields: HTTPFields, body: [UInt8] = [], restricted: Bool = false,
    authorization: ((String) throws -> String)? = nil
  ) async throws -> SimulatorClient.Answer {
    var result: SimulatorClient.Answer?
    try await WebPushRig.run { rig in
      rig.simulator.service.add(
        SimulatedSubscription(identifier: "a", serverKey: restricted ? keyText : nil, face: face))
      var fields = fields
      if let authorization { fields[.authorization] = try authorization(rig.simulator.service.origin) }
      result = await rig.push("a", fields, body)
    }
    return try #require(result)
  }

  @Test(
    "TTL is a number from 0, and at Apple and Windows from 1",
    arguments: [
      ("0", [201, 400, 201, 400]), ("1", [201, 201, 201, 201]), ("99999999999999999999", [201, 201, 201, 201]),
      ("-1", [400, 400, 400, 400]), ("1.5", [400, 400, 400, 400]), ("x", [400, 400, 400, 400]),
    ])
  func timeToLive(_ text: String, _ expected: [Int]) async throws {
    for (face, status) in zip([PushServiceFace.mozilla, .apple, .fcm, .wns], expected) {
      #expect(try await Self.status(face, [.timeToLive: text]).status == status, "\(face)")
    }
  }

  @Test("the answer names a lower TTL when the service keeps pushes for less")
  func keptTime() async throws {
    #expect(try await Self.status(.mozilla, [.timeToLive: "9999999"]).fields[.timeToLive] == "2592000")
    #expect(try await Self.status(.fcm, [.timeToLive: "9999999"]).fields[.timeToLive] == "2419200")
  }

  @Test(
    "topics are 1 to 32 characters of base64url, and at Apple of a length that base64url has",
    arguments: [
      ("a", 201, 400), ("abcde", 201, 400), ("abcdef", 201, 201), (String(repeating: "t", count: 12), 201, 201),
      (String(repeating: "t", count: 13), 201, 400), (String(repeating: "t", count: 32), 201, 201),
      (String(repeating: "t", count: 33), 400, 400), ("a b", 400, 400), ("a=", 400, 400), ("a+b/", 400, 400),
    ])
  func topics(_ topic: String, _ mozilla: Int, _ apple: Int) async throws {
    #expect(try await Self.status(.mozilla, [.timeToLive: "60", .topic: topic]).status == mozilla)
    #expect(try await Self.status(.apple, [.timeToLive: "60", .topic: topic]).status == apple)
  }

  @Test(
    "urgency is one of four words", arguments: [("very-low", 201), ("high", 201), ("HIGH", 400), ("low, high", 400)])
  func urgency(_ word: String, _ status: Int) async throws {
    #expect(try await Self.status(.mozilla, [.timeToLive: "60", .urgency: word]).status == status)
  }

  @Test(
    "bodies have the service's limit",
    arguments: [(4096, 201, 201), (4097, 413, 201), (5000, 413, 201), (5001, 413, 413)])
  func sizes(_ count: Int, _ mozilla: Int, _ windows: Int) async throws {
    let body = [UInt8](repeating: 0, count: count)
    #expect(try await Self.status(.mozilla, Self.encoded, body: body).status == mozilla)
    #expect(try await Self.status(.wns, Self.encoded, body: body).status == windows)
  }

  @Test("content has one encoding, without the fields of the older one")
  func encoding() async throws {
    #expect(try await Self.status(.mozilla, [.timeToLive: "60"], body: [1]).status == 400)
    var fields = Self.encoded
    fields[.cryptoKey] = "dh=x"
    #expect(try await Self.status(.mozilla, fields, body: [1]).status == 400)
  }

  @Test("a push that the browser cannot decrypt is accepted, and the log says why")
  func undecryptable() async throws {
    try await WebPushRig.run { rig in
      rig.simulator.service.add(SimulatedSubscription(identifier: "a"))
      #expect(await rig.push("a", Self.encoded, [1, 2, 3])?.status == 201)
      let record = try #require(rig.simulator.service.pushes.last)
      #expect(record.contentFault == "the header is cut off")
      #expect(record.content == nil)
    }
  }

  /// What is wrong with a token: its name, the field, and whether only Apple minds.
  private static let tokens: [(String, @Sendable (String) throws -> String, appleAlone: Bool)] = [
    ("another origin", { try authorization($0 + "/") }, false),
    ("expired", { try authorization($0, expiresIn: -1) }, false),
    ("too long", { try authorization($0, expiresIn: 86_410) }, false),
    ("text for exp", { try authorization($0, expiration: "\"\(wallSeconds + 60)\"") }, false),
    ("no exp", { try authorization($0, expiration: "null") }, false),
    ("another algorithm", { try authorization($0, header: #"{"typ":"JWT","alg":"HS256"}"#) }, false),
    ("no algorithm", { try authorization($0, header: #"{"typ":"JWT","alg":"none"}"#) }, false),
    ("signed by another key", { try authorization($0, key: P256PrivateKey(), shown: key) }, false),
    ("another key", { try authorization($0, key: P256PrivateKey()) }, false),
    ("no key", { try String(authorization($0).prefix { $0 != "," }) }, false),
    ("another scheme", { try authorization($0).replacing("vapid", with: "WebPush") }, false),
    ("cut", { try String(authorization($0).dropLast()) }, false),
    ("twice", { try authorization($0) + ", " + authorization($0) }, false),
    ("no subject", { try authorization($0, subject: nil) }, true),
    ("local subject", { try authorization($0, subject: #""mailto:ops@host.local""#) }, true),
    ("bracketed subject", { try authorization($0, subject: #""mailto:<ops@example.com>""#) }, true),
    ("subject at localhost", { try authorization($0, subject: #""mailto:ops@localhost""#) }, true),
  ]

  @Test("tokens are judged by signature, origin, end and contact", arguments: tokens.indices)
  func token(_ index: Int) async throws {
    let (name, make, appleAlone) = Self.tokens[index]
    let statuses: [(PushServiceFace, Int)] = [
      (.apple, 403), (.mozilla, appleAlone ? 201 : 401), (.fcm, appleAlone ? 201 : 403), (.wns, appleAlone ? 201 : 401),
    ]
    for (face, status) in statuses {
      let answer = try await Self.status(face, [.timeToLive: "60"], restricted: true, authorization: make)
      #expect(answer.status == status, "\(name) at \(face): \(answer.text)")
    }
  }

  @Test(
    "a valid token is accepted everywhere, and none only without a restriction", arguments: PushServiceFace.allCases)
  func valid(_ face: PushServiceFace) async throws {
    let fields: HTTPFields = [.timeToLive: "60"]
    let good = try await Self.status(face, fields, restricted: true) { try Self.authorization($0) }
    #expect(good.status == 201)
    #expect(good.fields[.location] != nil)
    #expect(try await Self.status(face, fields).status == 201)
    #expect([401, 403].contains(try await Self.status(face, fields, restricted: true).status))
  }

  @Test("each service has an answer for each fault", arguments: PushServiceFace.allCases)
  func answers(_ face: PushServiceFace) {
    for refusal in PushRefusal.allCases {
      let response = face.answer(refusal, identifier: "m1")
      #expect((400..<500).contains(response.status))
      #expect(!response.body.isEmpty || face == .wns)
    }
  }
}

@Suite("Decryption of pushes")
struct EncryptedContentTests {
  private struct Vectors: Decodable {
    struct RFC8291: Decodable {
      let plaintext, ua_private, auth_secret, body: String
    }

    struct RFC8188: Decodable {
      let ikm, plaintext_text, body: String
      let rs: Int
    }

    struct Encryption: Decodable {
      let name: String
      let plaintext, body: String?
      let padding_octets: Int
    }

    struct Refused: Decodable {
      let name, body: String
    }

    let rfc8291_appendix_a: RFC8291
    let rfc8188_3_1, rfc8188_3_2: RFC8188
    let computed_encryptions: [Encryption]
    let computed_bodies_to_refuse: [Refused]
  }

  private let vectors: Vectors
  private let browser: SimulatedSubscription

  init() throws {
    let url = try #require(Bundle.module.url(forResource: "Resources/web-push-vectors", withExtension: "json"))
    vectors = try JSONDecoder().decode(Vectors.self, from: Data(contentsOf: url))
    let example = vectors.rfc8291_appendix_a
    browser = SimulatedSubscription(
      identifier: "x", key: try P256PrivateKey(scalar: Self.bytes(example.ua_private)),
      secret: Self.bytes(example.auth_secret))
  }

  private static func bytes(_ text: String) -> [UInt8] { Base64URL.decode(text.utf8)! }

  @Test("the example of RFC 8291 is decrypted")
  func example() throws {
    let example = vectors.rfc8291_appendix_a
    #expect(try browser.decrypt(Self.bytes(example.body)).content == Self.bytes(example.plaintext))
  }

  @Test("both examples of RFC 8188 are decrypted, also the one of two records")
  func examples() throws {
    for example in [vectors.rfc8188_3_1, vectors.rfc8188_3_2] {
      let content = try EncryptedContent(Self.bytes(example.body))
      #expect(content.recordBytes == example.rs)
      let opened = try content.open(with: Self.bytes(example.ikm))
      #expect(String(decoding: opened.content, as: UTF8.self) == example.plaintext_text)
    }
    #expect(try EncryptedContent(Self.bytes(vectors.rfc8188_3_2.body)).records.count == 2)
    #expect(throws: ContentFault.tooManyRecords) { try browser.decrypt(Self.bytes(vectors.rfc8188_3_2.body)) }
  }

  @Test("the computed examples are decrypted, with their padding counted")
  func computed() throws {
    var count = 0
    for vector in vectors.computed_encryptions {
      guard let body = vector.body, let plaintext = vector.plaintext else { continue }
      let opened = try browser.decrypt(Self.bytes(body))
      #expect(opened.content == Self.bytes(plaintext), "\(vector.name)")
      #expect(opened.paddingBytes == vector.padding_octets, "\(vector.name)")
      count += 1
    }
    #expect(count == 4)
  }

  @Test("the broken examples are refused, each for its fault")
  func broken() throws {
    let faults: [String: ContentFault] = [
      "tag changed": .notAuthentic, "salt changed": .notAuthentic, "idlen 64": .keyMalformed,
      "point prefix 0x05": .keyMalformed, "X >= p": .keyMalformed, "rs 17": .recordSizeTooSmall,
      "no record": .noRecord, "delimiter 0x01 in the last record": .wrongDelimiter,
      "only zeros, no delimiter": .wrongDelimiter,
    ]
    #expect(Set(vectors.computed_bodies_to_refuse.map(\.name)) == Set(faults.keys))
    for vector in vectors.computed_bodies_to_refuse {
      let fault = try #require(faults[vector.name])
      #expect(throws: fault, "\(vector.name)") { try browser.decrypt(Self.bytes(vector.body)) }
    }
  }

  @Test("a body cut at any byte, or with any byte changed, is refused")
  func cuts() {
    let body = Self.bytes(vectors.rfc8291_appendix_a.body)
    for count in body.indices {
      #expect(throws: ContentFault.self, "after \(count)") { try browser.decrypt(Array(body[..<count])) }
    }
    // The record size may be any that holds the record.
    for place in body.indices where !(16..<20).contains(place) {
      var changed = body
      changed[place] ^= 0x40
      #expect(throws: ContentFault.self, "byte \(place)") { try browser.decrypt(changed) }
    }
  }

  @Test("the record size may be exact or the largest", arguments: [58, 4096, 65_536, 4_294_967_295])
  func recordSizes(_ size: UInt32) throws {
    var body = Self.bytes(vectors.rfc8291_appendix_a.body)
    body.replaceSubrange(16..<20, with: withUnsafeBytes(of: size.bigEndian) { Array($0) })
    #expect(throws: Never.self) { try browser.decrypt(body) }
  }
}
