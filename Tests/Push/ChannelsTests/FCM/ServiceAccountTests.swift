import Cryptography
import Foundation
import Testing

@testable import Channels

@Suite("Service accounts")
struct ServiceAccountTests {
  static let key = RSAPrivateKey()

  /// Google's file, with changes; nil removes a member.
  static func file(_ changes: [String: Any?] = [:]) throws -> [UInt8] {
    var members: [String: Any] = [
      "type": "service_account", "client_email": "push@tacet-test.iam.gserviceaccount.com",
      "private_key": key.pem, "private_key_id": "0123abcd", "project_id": "tacet-test",
      "token_uri": "https://oauth2.googleapis.com/token", "client_id": "1", "universe_domain": "googleapis.com",
    ]
    for (name, value) in changes { members[name] = value }
    return Array(try JSONSerialization.data(withJSONObject: members, options: .sortedKeys))
  }

  @Test("Google's file is read")
  func reading() throws {
    let account = try ServiceAccount(json: Self.file())
    #expect(account.clientEmail == "push@tacet-test.iam.gserviceaccount.com")
    #expect(account.keyIdentifier == "0123abcd")
    #expect(account.projectIdentifier == "tacet-test")
    #expect(account.tokenURI == "https://oauth2.googleapis.com/token")
    #expect(throws: Never.self) { try ServiceAccount(json: Self.file(["type": nil])) }
  }

  @Test(
    "a missing or wrong member is named",
    arguments: [
      ("client_email", nil), ("client_email", ""), ("client_email", "a b"), ("client_email", "a\r\nb"),
      ("client_email", String(repeating: "a", count: 321)), ("private_key", nil), ("private_key", "secret"),
      ("private_key_id", nil), ("private_key_id", "a\"b"), ("private_key_id", String(repeating: "a", count: 129)),
      ("project_id", nil), ("project_id", "a/b"), ("project_id", "a?b"), ("project_id", "ä"),
      ("project_id", String(repeating: "a", count: 65)), ("token_uri", nil), ("token_uri", "http://example.com/token"),
      ("type", "authorized_user"),
    ] as [(String, String?)])
  func mistakes(_ member: String, _ value: String?) throws {
    let json = try Self.file([member: value])
    let error = #expect(throws: ServiceAccountError.self) { try ServiceAccount(json: json) }
    #expect(error?.member == member)
    #expect(error?.description.hasPrefix(member) == true)
    #expect(error?.description.contains("secret") == false)
  }

  @Test("a member of another type is named")
  func types() throws {
    for name in ["client_email", "private_key", "private_key_id", "project_id", "token_uri", "type"] {
      for value in [1, true, ["a"], ["a": "b"], NSNull()] as [Any] {
        let json = try Self.file([name: value])
        #expect(#expect(throws: ServiceAccountError.self) { try ServiceAccount(json: json) }?.member == name)
      }
    }
  }

  @Test("the longest values are read")
  func longest() throws {
    let json = try Self.file([
      "client_email": String(repeating: "a", count: 320), "private_key_id": String(repeating: "a", count: 128),
      "project_id": String(repeating: "a", count: 64),
    ])
    #expect(throws: Never.self) { try ServiceAccount(json: json) }
  }

  @Test("a file has at most 16 KiB", arguments: [(0, true), (1, false)])
  func size(_ excess: Int, _ isAccepted: Bool) throws {
    let json = try Self.file()
    let padded = json + [UInt8](repeating: 0x20, count: ServiceAccount.fileBytesMax - json.count + excess)
    let account = try? ServiceAccount(json: padded)
    #expect((account != nil) == isAccepted)
  }

  @Test("a file that is cut anywhere, and anything but an object, is refused")
  func cuts() throws {
    let json = try Self.file()
    for length in 0..<json.count {
      #expect(throws: ServiceAccountError.self) { try ServiceAccount(json: Array(json.prefix(length))) }
    }
    for text in ["[]", "1", "null", String(repeating: "[", count: 10_000), "{\"a\":\"\u{0}\"}"] {
      #expect(throws: ServiceAccountError.self) { try ServiceAccount(json: Array(text.utf8)) }
    }
  }

  @Test("keys of other algorithms and short keys are refused")
  func keys() throws {
    let json = try Self.file(["private_key": P256PrivateKey().pem])
    #expect(throws: ServiceAccountError("private_key", "not an RSA key")) { try ServiceAccount(json: json) }
  }

  @Test("an assertion is an RS256 JWT of an hour with Google's claims")
  func assertion() throws {
    let account = try ServiceAccount(json: Self.file())
    let parts = try account.assertion(issuedAt: 1_790_000_000).split(separator: ".").map(String.init)
    #expect(parts.count == 3)
    let documents = try parts.prefix(2).map { part in
      String(decoding: try #require(Base64URL.decode(part.utf8)), as: UTF8.self)
    }
    #expect(documents[0] == #"{"alg":"RS256","typ":"JWT","kid":"0123abcd"}"#)
    #expect(
      documents[1] == #"{"iss":"push@tacet-test.iam.gserviceaccount.com","#
        + #""scope":"https://www.googleapis.com/auth/firebase.messaging","aud":"https://oauth2.googleapis.com/token","#
        + #""iat":1790000000,"exp":1790003600}"#)
    let signature = try #require(Base64URL.decode(parts[2].utf8))
    #expect(Self.key.publicKey.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
  }

  @Test(
    "requests with credentials go over https, or stay on this machine",
    arguments: [
      ("https://oauth2.googleapis.com/token", true), ("HTTPS://example.com", true), ("https://example.com:8443/", true),
      ("https://10.0.0.1/token", true), ("http://127.0.0.1:2400/token", true), ("http://localhost:1", true),
      ("http://LOCALHOST/", true), ("http://[::1]:2400/token", true), ("http://127.9.9.9", true),
      ("http://example.com/token", false), ("http://10.0.0.1/token", false), ("http://[::2]/", false),
      ("http://127.0.0.1.example.com/", false), ("http://localhost.example.com/", false),
      ("http://localhost@example.com/", false), ("https://user:word@example.com/", false), ("ftp://example.com", false),
      ("https://", false), ("https:///token", false), ("//example.com", false), ("", false), ("https", false),
      ("https://exa mple.com", false), ("https://example.com/\r\nX: 1", false), ("https://ex\u{e4}mple.com", false),
      ("http://[::1", true), ("http://127.0.0.1\\@example.com/", true),
      ("https://e/" + String(repeating: "a", count: 2038), true),
      ("https://e/" + String(repeating: "a", count: 2039), false),
    ])
  func endpoints(_ text: String, _ isAccepted: Bool) {
    #expect((EndpointURL(text) != nil) == isAccepted)
  }
}
