import Reactors
import Testing

@testable import API

@Suite("Malformed tokens", .timeLimit(.minutes(2)))
struct MalformedTokenTests {
  private let key = IssuerKey("es-1")

  /// How a verification judges a token, without HTTP between.
  private func judge(_ token: String, _ rig: TokenRig) async throws -> ClientTokenError.Code? {
    try await rig.reactors[0].perform { [verifier = rig.verifier] reactor in
      do throws(ClientTokenError) {
        _ = try await verifier.userID(of: token, on: reactor)
        return nil
      } catch {
        return error.code
      }
    }
  }

  private func run(_ test: (TokenRig, [String]) async throws -> Void) async throws {
    let tokens = [try TokenForge.hs256(), try key.token(), try RSAIssuerKey.shared.token()]
    let document = keySet(key.published(), RSAIssuerKey.shared.published())
    try await TokenRig.run(publishing: document) { try await test($0, tokens) }
  }

  @Test("a token that is cut anywhere is refused")
  func cuts() async throws {
    try await run { rig, tokens async throws in
      for token in tokens {
        let whole = try await judge(token, rig)
        #expect(whole == nil)
        for count in 0..<token.utf8.count {
          let code = try await judge(String(token.prefix(count)), rig)
          #expect(code == .invalid, "after \(count) bytes")
        }
      }
    }
  }

  @Test("a token with one bit changed anywhere is refused")
  func flips() async throws {
    try await run { rig, tokens async throws in
      for token in tokens {
        let bytes = Array(token.utf8)
        for index in bytes.indices {
          var changed = bytes
          changed[index] ^= 1 << UInt8(index % 7)
          let code = try await judge(String(decoding: changed, as: UTF8.self), rig)
          #expect(code == .invalid, "byte \(index)")
        }
      }
    }
  }

  @Test(
    "a token that is spelled otherwise is refused",
    arguments: ["{0}=", "{0}==", " {0}", "{0} ", "{0}.", ".{0}", "{0}\n", "{0}A", "\u{FEFF}{0}"])
  func spellings(pattern: String) async throws {
    try await run { rig, tokens async throws in
      for token in tokens {
        let code = try await judge(pattern.replacing("{0}", with: token), rig)
        #expect(code == .invalid)
      }
    }
  }

  @Test("a token may be as long as 8 KiB, and no longer", arguments: [0, 1])
  func length(excess: Int) async throws {
    try await run { rig, _ async throws in
      // The length of the claims moves that of the token by four for three.
      let unfilled = try TokenForge.hs256(TokenForge.claims(iss: "")).utf8.count
      let filling = (ClientTokenVerifier.bytesMax - unfilled) / 4 * 3
      let near = try (filling...filling + 8).map { count in
        try TokenForge.hs256(TokenForge.claims(iss: String(repeating: "i", count: count)))
      }
      let token = try #require(
        excess == 0
          ? near.last { $0.utf8.count <= ClientTokenVerifier.bytesMax }
          : near.first { $0.utf8.count > ClientTokenVerifier.bytesMax })
      #expect(abs(token.utf8.count - ClientTokenVerifier.bytesMax) <= 2)
      #expect(try await judge(token, rig) == (excess == 0 ? nil : .invalid))
    }
  }

  @Test("over HTTP no token and an empty one are refused too, and are told what is wanted")
  func missing() async throws {
    try await run { rig, _ async throws in
      for token in [nil, "", " "] {
        let outcome = try await rig.ask(token)
        #expect(outcome.status == 401)
        #expect(outcome.challenge?.hasPrefix("Bearer") == true)
      }
    }
  }
}
