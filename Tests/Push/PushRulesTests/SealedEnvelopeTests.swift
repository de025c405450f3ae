import Cryptography
import Foundation
import TestProcesses
import TestRandomness
import TestRepository
import Testing

@testable import PushRules

@Suite("Sealed envelopes")
struct SealedEnvelopeTests {
  private let device = X25519PrivateKey()
  private let binding = SealedBinding(channel: "apns", address: "ab12", kind: "message", id: "m-1")

  private func envelope(_ count: Int) throws -> [UInt8] {
    let content = [UInt8](repeating: UInt8(ascii: "x"), count: count)
    let text = try SealedEnvelope.seal(content, for: SealingKey(device.publicKey), boundTo: binding)
    return try #require(Base64URL.decode(text.utf8))
  }

  @Test(
    "content is padded to the next size",
    arguments: [(0, 256), (256, 256), (257, 512), (512, 512), (513, 1024), (1025, 2048), (2048, 2048)])
  func padding(_ count: Int, _ padded: Int) throws {
    let bytes = try envelope(count)
    #expect(bytes.count == 37 + padded + 16)
    #expect(Base64URL.encode(bytes).utf8.count == SealedEnvelope.characters(ofPaddedSize: padded))
  }

  @Test("the head has the version, the beginning of the key's digest, and another ephemeral key each time")
  func head() throws {
    let (one, other) = (try envelope(3), try envelope(3))
    #expect(one[0] == 1)
    #expect(Array(one[1..<5]) == Array(SHA256.hash(device.publicKey.bytes).bytes.prefix(4)))
    #expect(one[5..<37] != other[5..<37])
    #expect(one[37...] != other[37...])
  }

  @Test(
    "a key is 32 bytes of base64url",
    arguments: [
      (String(repeating: "A", count: 42), false), (String(repeating: "A", count: 44), false), ("", false),
      (String(repeating: "A", count: 42) + "E", true), (String(repeating: "A", count: 42) + "F", false),
      (String(repeating: "+", count: 43), false), (String(repeating: "A", count: 42) + "=", false),
    ])
  func keys(_ text: String, _ isKey: Bool) {
    #expect((SealingKey(text: text) != nil) == isKey)
  }

  @Test("keys of low order are keys for which nothing can be sealed")
  func lowOrder() throws {
    for first: UInt8 in [0, 1] {
      let key = SealingKey(try X25519PublicKey([first] + [UInt8](repeating: 0, count: 31)))
      #expect(!key.isUsable)
      #expect(throws: CryptographyError.self) { try SealedEnvelope.seal([1], for: key, boundTo: binding) }
    }
    #expect(SealingKey(device.publicKey).isUsable)
  }
}

/// A sealed push as it leaves, and what its device knows.
private struct SealedCase {
  let device = X25519PrivateKey()
  var channel = "apns"
  var address: String
  var payload: [UInt8]
  var body: String

  /// A line for `open_sealed.py`.
  func line(key: X25519PrivateKey? = nil, address: String? = nil, payload: [UInt8]? = nil) -> String {
    [
      Base64URL.encode((key ?? device).scalar), channel, address ?? self.address,
      Base64URL.encode(payload ?? self.payload),
    ].joined(separator: " ") + "\n"
  }

  init(body: String, title: String, kind: String, using random: inout SeededGenerator) throws {
    self.body = body
    let digits = (0..<64).map { _ in "0123456789abcdef".randomElement(using: &random) ?? "0" }
    address = String(digits)
    payload = []
    let id = HostID(UUID())
    let content: any PushContent =
      kind == "message"
      ? MessagePush(conversationID: HostID(UUID()), senderName: title, text: body)
      : WatchedRowPush(title: title, body: body, surface: SurfaceID(kind: "board", id: HostID(UUID())))
    let subject = PushSubject(id: id, kind: kind)
    let keys = #"{"content":"sealed","sealing_key":"\#(Base64URL.encode(device.publicKey.bytes))"}"#
    var forms = ContentForms()
    let form = try forms.form(
      of: content.push(about: subject), for: PushTarget(address: address, keys: keys), by: ContentPolicy(),
      about: ContentForms.Event(subject, sender: content.sender, in: .builtIn, nil, issuedAt: 1_800_000_000_123))
    #expect(form.note == .sealed)
    guard let alert = form.alert else { return }
    payload = alert.encoded(badge: 99_999, logID: UUID().uuidString.lowercased())
  }

  /// The payload with another value of one member.
  func payload(_ name: String, _ value: String) throws -> [UInt8] {
    var members = try #require(try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any])
    members[name] = value
    return Array(try JSONSerialization.data(withJSONObject: members))
  }

  var envelope: String {
    let members = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
    return members?["sealed"] as? String ?? ""
  }
}

@Suite("Sealed pushes beside another implementation")
struct IndependentOpeningTests {
  /// Python with `cryptography`: `WEB_PUSH_PYTHON`, or else the system's.
  private static var python: String {
    ProcessInfo.processInfo.environment["WEB_PUSH_PYTHON"] ?? "/usr/bin/python3"
  }

  private static let alphabet = Array("abc ÄÖß\"\\\n\t漢字🇨🇭👩‍👩‍👧‍👦e\u{301}שלום")

  private static func answers(_ input: String) async throws -> [Substring] {
    let file = FileManager.default.temporaryDirectory.appending(path: "sealed-\(UUID().uuidString)")
    try Data(input.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let script = Repository.file("Tests/Push/PushRulesTests/Sealing/open_sealed.py").path
    let command = "exec '\(python)' '\(script)' < '\(file.path)'"
    let output = try await onOwnThread { try TestProcesses.run(["sh", "-c", command]) }
    return output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
  }

  @Test("five hundred random pushes are opened, and none has a word outside of its envelope", .timeLimit(.minutes(5)))
  func opened() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var cases: [SealedCase] = []
    for number in 0..<500 {
      let letters = (0..<Int.random(in: 0...600, using: &random)).map { _ in
        Self.alphabet.randomElement(using: &random)!
      }
      cases.append(
        try SealedCase(
          body: "secret\(number) " + String(letters), title: "Anna Wintour \(number)",
          kind: number % 2 == 0 ? "message" : "claimed_request", using: &random))
    }
    let answers = try await Self.answers(cases.map { $0.line() }.joined())
    try #require(answers.count == cases.count, "seed \(seed)")
    for (one, answer) in zip(cases, answers) {
      let document = try #require(Base64URL.decode(answer.utf8), "seed \(seed): \(answer.prefix(100))")
      let members = try #require(try JSONSerialization.jsonObject(with: Data(document)) as? [String: Any])
      let (title, body) = (members["title"] as? String ?? "", members["body"] as? String ?? "")
      #expect(title.contains("Anna Wintour"), "seed \(seed)")
      #expect(body.hasPrefix(one.body.prefix { $0 != " " }), "seed \(seed)")
      #expect(members["issued_at"] as? Int64 == 1_800_000_000_123)
      #expect(one.payload.count <= 4096)
      let visible = String(decoding: one.payload, as: UTF8.self)
      // Four letters are now and then in the base64 of five hundred envelopes.
      #expect(!visible.contains("secret") && !visible.contains("Wintour"), "seed \(seed)")
      #expect(visible.contains(#""mutable-content":1"#))
    }
  }

  @Test("no other bit, device, key or event opens a push", .timeLimit(.minutes(5)))
  func refused() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let one = try SealedCase(body: "secret", title: "Anna", kind: "message", using: &random)
    let other = try SealedCase(body: "secret", title: "Anna", kind: "message", using: &random)
    let envelope = try #require(Base64URL.decode(one.envelope.utf8))
    var lines = [
      one.line(key: other.device), one.line(address: other.address), one.line(address: one.address.uppercased()),
      one.line(payload: try one.payload("message_id", UUID().uuidString)),
      one.line(payload: try one.payload("type", "answer")),
    ]
    for bit in 0..<(envelope.count * 8) {
      var changed = envelope
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      lines.append(one.line(payload: try one.payload("sealed", Base64URL.encode(changed))))
    }
    for count in 0..<envelope.count {
      lines.append(one.line(payload: try one.payload("sealed", Base64URL.encode(envelope.prefix(count)))))
    }
    let answers = try await Self.answers((lines + [one.line()]).joined())
    try #require(answers.count == lines.count + 1)
    #expect(answers.dropLast().filter { !$0.hasPrefix("! ") } == [], "seed \(seed)")
    #expect(answers.last?.hasPrefix("! ") == false)
  }
}
