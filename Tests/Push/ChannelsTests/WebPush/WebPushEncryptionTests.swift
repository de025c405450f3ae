import Cryptography
import Foundation
import TestProcesses
import TestRandomness
import TestRepository
import Testing

@testable import Channels

@Suite("Encryption of pushes")
struct WebPushEncryptionTests {
  private let vectors: WebPushVectors
  private let keys: WebPushKeys
  private let sender: P256PrivateKey

  init() throws {
    vectors = try WebPushVectors.load()
    let example = vectors.rfc8291_appendix_a
    keys = try WebPushKeys(p256dh: example.ua_public, auth: example.auth_secret)
    sender = try P256PrivateKey(scalar: bytes(example.as_private))
  }

  @Test("the example of RFC 8291 comes out byte for byte")
  func example() throws {
    let example = vectors.rfc8291_appendix_a
    let body = try WebPushEncryption.encrypt(
      bytes(example.plaintext), for: keys, from: sender, salt: bytes(example.salt), paddingBytes: 0)
    #expect(Base64URL.encode(body) == example.body)
  }

  @Test("the computed examples come out, and the one with a body of 4097 bytes is refused")
  func computed() throws {
    #expect(vectors.computed_encryptions.count == 6)
    for vector in vectors.computed_encryptions {
      let content = vector.plaintext.map { bytes($0) } ?? [UInt8](repeating: 0x7A, count: vector.plaintext_octets)
      func body() throws -> [UInt8] {
        try WebPushEncryption.encrypt(
          content, for: keys, from: sender, salt: bytes(vectors.rfc8291_appendix_a.salt),
          paddingBytes: vector.padding_octets)
      }
      guard vector.body_octets <= 4096 else {
        #expect(throws: WebPushError.self, "\(vector.name)") { try body() }
        continue
      }
      let result = try body()
      #expect(result.count == vector.body_octets, "\(vector.name)")
      #expect(SHA256.hash(result).hexadecimal() == vector.body_sha256, "\(vector.name)")
      if let expected = vector.body { #expect(Base64URL.encode(result) == expected, "\(vector.name)") }
    }
  }

  @Test(
    "content is padded to the next class, as far as the body may grow",
    arguments: [
      (0, 512), (1, 512), (511, 512), (512, 512), (513, 1024), (2560, 2560), (2561, 3072), (3584, 3584), (3585, 3993),
      (3993, 3993),
    ])
  func padding(_ count: Int, _ padded: Int) throws {
    #expect(count + WebPushEncryption.paddingBytes(behind: count) == padded)
    #expect(try WebPushEncryption.encrypt([UInt8](repeating: 1, count: count), for: keys).count == padded + 103)
  }

  @Test("content that would make a body of more than 4096 bytes is refused", arguments: [3994, 100_000])
  func tooLarge(_ count: Int) {
    #expect {
      try WebPushEncryption.encrypt([UInt8](repeating: 1, count: count), for: keys)
    } throws: {
      ($0 as? WebPushError)?.code == .payloadTooLarge
    }
  }

  @Test("two pushes with the same content differ from the salt on")
  func fresh() throws {
    let (one, other) = (try WebPushEncryption.encrypt([1], for: keys), try WebPushEncryption.encrypt([1], for: keys))
    #expect(one.prefix(16) != other.prefix(16))
    #expect(one[21..<86] != other[21..<86])
    #expect(one[16..<21] == other[16..<21])
  }
}

@Suite("Encryption beside another implementation")
struct WebPushEncryptionDifferentialTests {
  private static let count = 10_000

  /// Python with `http_ece`: `WEB_PUSH_PYTHON`, or else the system's.
  private static var python: String {
    ProcessInfo.processInfo.environment["WEB_PUSH_PYTHON"] ?? "/usr/bin/python3"
  }

  @Test("ten thousand random pushes are decrypted by http_ece", .timeLimit(.minutes(4)))
  func pushes() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var contents: [[UInt8]] = []
    var input = ""
    for number in 0..<Self.count {
      // Every length once before any comes again, and the longest.
      let length = number == 0 ? WebPushEncryption.contentBytesMax : number % (WebPushEncryption.contentBytesMax + 1)
      let content = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      let secret = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
      let browser = P256PrivateKey()
      let body = try WebPushEncryption.encrypt(content, for: WebPushKeys(browser, secret: secret))
      input += [browser.scalar, secret, body].map { Base64URL.encode($0) }.joined(separator: " ") + "\n"
      contents.append(content)
    }
    let script = Repository.file("Tests/Push/ChannelsTests/WebPush/decrypt_pushes.py").path
    let output = try await Self.run([Self.python, script], input)
    let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    try #require(lines.count == Self.count, "seed \(seed): \(output.suffix(400))")
    for (line, content) in zip(lines, contents) {
      let isSame = Base64URL.decode(line.utf8) == content
      #expect(isSame, "seed \(seed), content of \(content.count) bytes: \(line.prefix(100))")
    }
  }

  /// Runs a program with a file as its standard input.
  private static func run(_ command: [String], _ input: String) async throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: "pushes-\(UUID().uuidString)")
    try Data(input.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let words = command.map { "'\($0)'" }.joined(separator: " ")
    return try await onOwnThread { try TestProcesses.run(["sh", "-c", "exec \(words) < '\(file.path)'"]) }
  }
}

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

/// Published and computed examples. All binary values are base64url.
struct WebPushVectors: Decodable {
  struct RFC8291: Decodable {
    let plaintext, as_private, ua_public, auth_secret, salt, body: String
  }

  struct RFC8292: Decodable {
    let t, k: String
  }

  struct Encryption: Decodable {
    let name: String
    let plaintext, body: String?
    let plaintext_octets, padding_octets, body_octets: Int
    let body_sha256: String
  }

  let rfc8291_appendix_a: RFC8291
  let rfc8292_2_4: RFC8292
  let computed_encryptions: [Encryption]

  static func load() throws -> WebPushVectors {
    let url = try #require(Bundle.module.url(forResource: "web-push-vectors", withExtension: "json"))
    return try JSONDecoder().decode(WebPushVectors.self, from: Data(contentsOf: url))
  }
}

func bytes(_ text: String) -> [UInt8] { Base64URL.decode(text.utf8)! }

extension WebPushKeys {
  /// The keys of a browser that a test plays.
  init(_ key: P256PrivateKey, secret: [UInt8]) throws {
    try self.init(p256dh: Base64URL.encode(key.publicKey.x963), auth: Base64URL.encode(secret))
  }
}
