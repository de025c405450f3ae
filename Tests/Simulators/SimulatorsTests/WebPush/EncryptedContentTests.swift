import Cryptography
import Foundation
import Testing

@testable import Simulators

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
