import Cryptography
import Foundation
import Synchronization
import Testing

@testable import Channels

@Suite("VAPID")
struct VAPIDSignerTests {
  /// A clock that a test sets.
  private final class Clock: Sendable {
    let seconds = Mutex<Int64>(1_790_000_000)
    func advance(_ step: Int64) { seconds.withLock { $0 += step } }
  }

  private struct Claims: Decodable, Equatable {
    let aud: String
    let exp: Int64
    let sub: String
  }

  private let clock = Clock()
  private let key = P256PrivateKey()
  private let signer: VAPIDSigner

  init() throws {
    let clock = clock
    signer = VAPIDSigner(
      key: key, subject: try VAPIDSubject("mailto:ops@example.com"), clock: { clock.seconds.withLock { $0 } })
  }

  @Test("the published example of RFC 8292 is a valid signature of its key")
  func example() throws {
    let vector = try WebPushVectors.load().rfc8292_2_4
    let parts = vector.t.split(separator: ".").map(String.init)
    let key = try P256PublicKey(x963: bytes(vector.k))
    let signature = try #require(ES256Signature(raw: bytes(parts[2])))
    #expect(key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
  }

  @Test("a token names the origin, ends after twelve hours and verifies with the key beside it")
  func token() throws {
    let text = try signer.token(for: "https://push.example.net").authorization
    let match = try #require(text.wholeMatch(of: /vapid t=([^.]+)\.([^.]+)\.([^.]+), k=(.+)/))
    #expect(String(decoding: bytes(String(match.1)), as: UTF8.self) == #"{"typ":"JWT","alg":"ES256"}"#)
    let claims = try JSONDecoder().decode(Claims.self, from: Data(bytes(String(match.2))))
    let expiration: Int64 = 1_790_000_000 + 43_200
    #expect(claims == Claims(aud: "https://push.example.net", exp: expiration, sub: "mailto:ops@example.com"))
    let signature = try #require(ES256Signature(raw: bytes(String(match.3))))
    #expect(key.publicKey.verifies(signature, of: Array("\(match.1).\(match.2)".utf8)))
    #expect(String(match.4) == signer.publicKeyText)
    #expect(bytes(signer.publicKeyText) == key.publicKey.x963)
  }

  @Test(
    "a token is kept for six hours, and replaced before and after",
    arguments: [(0, true), (21_599, true), (21_600, false), (1_000_000, false), (-300, true), (-301, false)])
  func renewal(_ step: Int64, _ isKept: Bool) throws {
    let first = try signer.token(for: "https://a.example")
    clock.advance(step)
    #expect(try (signer.token(for: "https://a.example") == first) == isKept)
  }

  @Test("a refused token is replaced once, and not within an hour")
  func replacement() throws {
    let first = try signer.token(for: "https://a.example")
    clock.advance(3599)
    #expect(try !signer.replace(first, for: "https://a.example"))
    #expect(try signer.token(for: "https://a.example") == first)
    clock.advance(1)
    #expect(try signer.replace(first, for: "https://a.example"))
    let second = try signer.token(for: "https://a.example")
    #expect(second != first)
    // Another push that was refused with the first one finds the second.
    #expect(try signer.replace(first, for: "https://a.example"))
    #expect(try signer.token(for: "https://a.example") == second)
  }

  @Test("invented origins do not push out the ones in use, and take no memory without bound")
  func origins() throws {
    let first = try signer.token(for: "https://fcm.googleapis.com")
    for number in 0..<1000 {
      _ = try signer.token(for: "https://w\(number).notify.windows.com")
      #expect(try signer.token(for: "https://fcm.googleapis.com") == first)
    }
    #expect(signer.originCount == 256)
  }

  @Test(
    "contacts that every service accepts",
    arguments: [
      "mailto:ops@example.com", "mailto:ops+push@mail.example.co.uk", "mailto:ops@example.test", "https://example.com",
      "https://example.com/contact?x=1", "https://example.com:8443/", "mailto:a@localhost.example",
    ])
  func subjects(_ text: String) throws {
    #expect(try VAPIDSubject(text).text == text)
  }

  @Test(
    "contacts that Apple or another service refuses",
    arguments: [
      "", "ops@example.com", "mailto:", "mailto:@example.com", "mailto:ops", "mailto:ops@", "mailto:ops@localhost",
      "mailto:ops@host.local", "mailto:ops@host.LOCAL", "mailto:ops@host.localhost", "mailto:ops@x.invalid",
      "mailto:ops@host", "mailto: ops@example.com", "mailto:<ops@example.com>", "mailto:Ops <ops@example.com>",
      "mailto:mailto:ops@example.com", "mailto:https://ops@example.com", "mailto:(ops)@example.com",
      "mailto:a;b@example.com",
      "mailto:a@b@example.com", "mailto:a@example.com,b@example.com", "mailto:ops@127.0.0.1", "mailto:ops@[::1]",
      "mailto:o\"s@example.com", "mailto:o\\s@example.com", "mailto:ops@example.com\n", "mailto:öps@example.com",
      "MAILTO:ops@example.com", "http://example.com", "https://", "https://localhost/", "https://127.0.0.1/",
      "https://user@example.com/", "https://example.com:0/", "https://exam ple.com", "https://example.invalid/x",
      "https:example.com", "mailto:" + String(repeating: "a", count: 320) + "@example.com",
    ])
  func refusedSubjects(_ text: String) {
    #expect { try VAPIDSubject(text) } throws: { ($0 as? WebPushError)?.code == .subjectMalformed }
  }
}
