import Cryptography
import Foundation
import TestProcesses
import TestRepository
import Testing

@testable import API

/// The same tokens judged here and by Python's `cryptography`.
@Suite("Tokens beside another implementation")
struct TokenDifferentialTests {
  private static let count = 10_000

  private struct Keys: Decodable {
    let secret: String
    let jwks: String
  }

  private struct JudgedToken: Decodable {
    let token: String
    let made: String
    let isValid: Bool
  }

  @Test("ten thousand tokens, valid and broken, are judged the same", .timeLimit(.minutes(2)))
  func tokens() async throws {
    let seed = UInt32.random(in: 0...UInt32.max)
    let script = Repository.file("Tests/Service/APITests/Callers/generate_tokens.py").path
    // The system's, which has its packages from the system too.
    let output = try await onOwnThread { try run(["/usr/bin/python3", script, "\(seed)", "\(Self.count)"]) }
    let lines = output.split(separator: "\n").map { Data($0.utf8) }
    let decoder = JSONDecoder()
    let keys = try decoder.decode(Keys.self, from: try #require(lines.first))
    let secret = VerificationKey.hs256(HMACSHA256(key: Array(keys.secret.utf8)))
    let set = try KeySet(Array(keys.jwks.utf8))
    var seen: [String: [Bool: Int]] = [:]
    for line in lines.dropFirst() {
      let judged = try decoder.decode(JudgedToken.self, from: line)
      let isValid = Self.isSigned(judged.token, secret, set)
      #expect(isValid == judged.isValid, "seed \(seed), \(judged.made): \(judged.token)")
      seen[judged.made, default: [:]][judged.isValid, default: 0] += 1
    }
    #expect(seen.values.flatMap(\.values).reduce(0, +) == Self.count)
    // Every kind of change was there, and some of both verdicts.
    #expect(seen.count == 8)
    #expect(seen.values.map { $0[true] ?? 0 }.reduce(0, +) > Self.count / 5)
    #expect(seen.filter { $0.key != "as issued" }.allSatisfy { $0.value[false, default: 0] > 100 })
  }

  /// Whether the key that the header names has signed the token; claims are not looked at.
  private static func isSigned(_ text: String, _ secret: VerificationKey, _ set: KeySet) -> Bool {
    guard let token = try? CompactToken(text), let algorithm = try? token.header.acceptedAlgorithm() else {
      return false
    }
    if algorithm == .hs256 { return secret.hasSigned(token) }
    guard let kid = token.header.kid else { return false }
    return set.keys[KeySet.Name(kid: kid, algorithm: algorithm)]?.hasSigned(token) ?? false
  }
}
