import FoundationEssentials
import Reactors
import TestLogs
import TestReactors
import Testing

@testable import API

@Suite("Key sets")
struct KeySetTests {
  private func names(_ document: String) throws -> [String] {
    try KeySet(Array(document.utf8)).keys.keys.map { "\($0.kid) \($0.algorithm.rawValue)" }.sorted()
  }

  @Test("keys of both kinds are taken, and verify what they have signed")
  func both() throws {
    let (one, two) = (IssuerKey("one"), RSAIssuerKey.shared)
    let set = try KeySet(Array(keySet(one.published(), two.published()).utf8))
    let es256 = try #require(set.keys[KeySet.Name(kid: "one", algorithm: .es256)])
    let rs256 = try #require(set.keys[KeySet.Name(kid: two.kid, algorithm: .rs256)])
    #expect(set.keys.count == 2)
    let (short, long) = (try CompactToken(try one.token()), try CompactToken(try two.token()))
    #expect(es256.hasSigned(short) && rs256.hasSigned(long))
    #expect(!es256.hasSigned(long) && !rs256.hasSigned(short))
  }

  @Test(
    "an elliptic key is taken when it is one for ES256 signatures",
    arguments: [
      ([:], true), (["alg": ""], true), (["use": ""], true), (["key_ops": #"["verify"]"#], true),
      (["key_ops": #"["sign","verify"]"#], true), (["key_ops": #"["sign"]"#], false), (["key_ops": "[]"], false),
      (["use": #""enc""#], false), (["alg": #""ES384""#], false), (["alg": #""RS256""#], false),
      (["alg": #""HS256""#], false), (["crv": #""P-384""#], false), (["crv": ""], false), (["kty": #""RSA""#], false),
      (["kty": #""oct""#], false), (["kty": ""], false), (["kid": ""], false), (["kid": #""""#], false),
      (["kid": "1"], false), (["x": ""], false), (["x": #""AAAA""#], false), (["y": #""+""#], false),
      (["x": #""\#(String(repeating: "A", count: 43))""#], false), (["ext": "true"], true),
    ] as [([String: String], Bool)])
  func elliptic(changes: [String: String], isTaken: Bool) throws {
    #expect(try names(keySet(IssuerKey("k").published(changes))) == (isTaken ? ["k ES256"] : []))
  }

  @Test(
    "an RSA key is taken when it is one for RS256 signatures and strong",
    arguments: [
      ([:], true), (["alg": ""], true), (["alg": #""RS512""#], false), (["alg": #""PS256""#], false),
      (["alg": #""ES256""#], false), (["use": #""enc""#], false), (["e": ""], false), (["n": ""], false),
      (["e": #""AQ""#], false), (["e": #""Ag""#], false),
      (["n": #""\#(TokenForge.text([UInt8](repeating: 0xff, count: 128)))""#], false),
      (["n": #""\#(TokenForge.text([UInt8](repeating: 0xff, count: 1025)))""#], false),
    ] as [([String: String], Bool)])
  func rsa(changes: [String: String], isTaken: Bool) throws {
    #expect(try names(keySet(RSAIssuerKey.shared.published(changes))) == (isTaken ? ["rsa-1 RS256"] : []))
  }

  @Test("what is not usable leaves the rest alone, and the first of one name is taken")
  func rest() throws {
    let (first, second) = (IssuerKey("k"), IssuerKey("k"))
    let document = keySet(
      "1", "null", "{}", #"{"kty":"OKP","crv":"Ed25519","kid":"o","x":"AAAA"}"#, #"{"kty":"oct","kid":"s","k":"AAAA"}"#,
      first.published(), second.published(), RSAIssuerKey.shared.published(["kid": #""k""#]))
    #expect(try names(document) == ["k ES256", "k RS256"])
    let key = try KeySet(Array(document.utf8)).keys[KeySet.Name(kid: "k", algorithm: .es256)]
    #expect(try key?.hasSigned(CompactToken(try first.token())) == true)
    #expect(try key?.hasSigned(CompactToken(try second.token())) == false)
  }

  @Test("a set has a bound")
  func bound() throws {
    let keys = (0..<KeySet.keysMax + 1).map { IssuerKey("\($0)").published() }
    #expect(try names(#"{"keys":[\#(keys.joined(separator: ","))]}"#).count == KeySet.keysMax)
  }

  @Test(
    "a set without keys is one, anything else is none", arguments: ["", "[]", "null", "{}", #"{"keys":{}}"#, "<html>"])
  func noSet(text: String) throws {
    #expect(try names(#"{"keys":[]}"#) == [])
    #expect(throws: (any Error).self) { _ = try KeySet(Array(text.utf8)) }
  }
}

@Suite("When a key set is fetched")
struct KeySetStateTests {
  private static let second: UInt64 = 1_000_000_000
  private let known = KeySet.Name(kid: "known", algorithm: .es256)
  private let unknown = KeySet.Name(kid: "unknown", algorithm: .es256)
  private let document = Array(keySet(IssuerKey("known").published()).utf8)

  /// A step without its key.
  private enum Kind: Equatable {
    case use(generation: Int, refreshes: Bool), wait(begins: Bool), unknown, unavailable
  }

  private func kind(_ step: KeySetState.Step) -> Kind {
    switch step {
    case .use(_, let generation, let refreshes): .use(generation: generation, refreshes: refreshes)
    case .wait(let begins): .wait(begins: begins)
    case .unknown: .unknown
    case .unavailable: .unavailable
    }
  }

  /// A set taken at a time, in seconds.
  private func taken(at seconds: UInt64) throws -> KeySetState {
    var state = KeySetState()
    _ = state.begin(now: seconds * Self.second)
    _ = state.take(try KeySet(document), document, now: seconds * Self.second)
    return state
  }

  @Test("the first look begins a fetch, the others wait for it, and its failure is told to all")
  func first() {
    var state = KeySetState()
    #expect(kind(state.look(for: known, now: 0)) == .wait(begins: true))
    #expect(kind(state.look(for: known, now: 0)) == .wait(begins: false))
    state.fail()
    #expect(kind(state.find(known)) == .unavailable)
    #expect(!state.hasSet)
  }

  @Test(
    "without a set a fetch is tried every five seconds",
    arguments: [(4, false), (5, true), (6, true)])
  func retries(seconds: UInt64, begins: Bool) {
    var state = KeySetState()
    _ = state.begin(now: 0)
    state.fail()
    #expect(kind(state.look(for: known, now: seconds * Self.second)) == (begins ? .wait(begins: true) : .unavailable))
  }

  @Test(
    "a known key is used at once, and refreshed behind its use after ten minutes",
    arguments: [(599, false), (600, true)])
  func age(seconds: UInt64, refreshes: Bool) throws {
    var state = try taken(at: 100)
    let now = (100 + seconds) * Self.second
    #expect(kind(state.look(for: known, now: now)) == .use(generation: 1, refreshes: refreshes))
    #expect(kind(state.look(for: known, now: now)) == .use(generation: 1, refreshes: false))
  }

  @Test("an unknown key is fetched for once a minute", arguments: [(59, false), (60, true)])
  func unknownKeys(seconds: UInt64, begins: Bool) throws {
    var state = try taken(at: 100)
    let now = (100 + seconds) * Self.second
    #expect(kind(state.look(for: unknown, now: now)) == (begins ? .wait(begins: true) : .unknown))
    #expect(kind(state.look(for: unknown, now: now)) == (begins ? .wait(begins: false) : .unknown))
    #expect(kind(state.look(for: known, now: now)) == .use(generation: 1, refreshes: false))
  }

  @Test("a failed refresh keeps the set, however old, and is tried again a minute later")
  func outage() throws {
    var state = try taken(at: 0)
    for minute: UInt64 in 10..<2000 {
      let now = minute * 60 * Self.second
      #expect(kind(state.look(for: known, now: now)) == .use(generation: 1, refreshes: true))
      state.fail()
      #expect(kind(state.look(for: known, now: now + 59 * Self.second)) == .use(generation: 1, refreshes: false))
    }
    #expect(kind(state.find(unknown)) == .unknown)
  }

  @Test("another set is another generation, the same one is not")
  func generations() throws {
    var state = try taken(at: 0)
    let same = try KeySet(document)
    let isNew = state.take(same, document, now: 1)
    #expect(!isNew)
    #expect(state.generation == 1)
    let other = Array(keySet(IssuerKey("other").published()).utf8)
    let isOther = state.take(try KeySet(other), other, now: 2)
    #expect(isOther)
    #expect(state.generation == 2)
    #expect(kind(state.find(known)) == .unknown)
  }
}

@Suite("A key set elsewhere", .timeLimit(.minutes(1)))
struct RemoteKeySetTests {
  private let key = IssuerKey("es-1")

  @Test("many requests on several reactors wait for one fetch", arguments: [1, 3])
  func singleFlight(reactorCount: Int) async throws {
    try await TokenRig.run(reactorCount: reactorCount, publishing: keySet(key.published())) { rig async throws in
      rig.keys.hold()
      let token = try key.token()
      try await withThrowingTaskGroup(of: Int.self) { group in
        for reactor in rig.reactors {
          for _ in 0..<20 {
            group.addTask { [verifier = rig.verifier] in
              try await reactor.perform { reactor in
                let user = try await verifier.userID(of: token, on: reactor)
                reactor.assertIsolated("a request goes on where it was")
                return user == TokenForge.user ? 1 : 0
              }
            }
          }
        }
        try await until { rig.keys.count > 0 }
        rig.keys.release()
        let answered = try await group.reduce(0, +)
        #expect(answered == reactorCount * 20)
      }
      #expect(rig.keys.count == 1)
    }
  }

  @Test("a token that was verified costs no job of another thread, and no signature, until its end")
  func remembered() async throws {
    try await TokenRig.run(publishing: keySet(key.published())) { rig async throws in
      let token = try key.token(TokenForge.claims(exp: "1800000100"))
      let jobs = try await rig.reactors[0].perform { [verifier = rig.verifier] reactor in
        _ = try await verifier.userID(of: token, on: reactor)
        let before = reactor.executor.jobsFromOtherThreads
        for _ in 0..<1000 { _ = try await verifier.userID(of: token, on: reactor) }
        return reactor.executor.jobsFromOtherThreads - before
      }
      #expect(jobs == 0)
      rig.clock.advance(by: 159)
      #expect(try await rig.ask(token).status == 200)
      rig.clock.advance(by: 1)
      #expect(try await rig.ask(token).status == 401)
    }
  }

  @Test("a set is fetched again ten minutes later, behind any use, and a key that is gone ends what was remembered")
  func refresh() async throws {
    try await TokenRig.run(publishing: keySet(key.published())) { rig async throws in
      let token = try key.token()
      #expect(try await rig.ask(token).status == 200)
      rig.keys.publish(keySet(IssuerKey("es-2").published()))
      rig.clock.advance(by: 599)
      #expect(try await rig.ask(token).status == 200)
      #expect(rig.keys.count == 1)
      rig.clock.advance(by: 1)
      #expect(try await rig.ask(token).status == 200)
      try await until { rig.keySet.use() != 1 }
      #expect(try await rig.ask(token).status == 401)
      #expect(rig.keys.count == 2)
    }
  }

  @Test(
    "what is no key set, or has no usable key, keeps the last one, and the log says so",
    arguments: ["", "<html>", "{}", #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","kid":"s","k":"AAAA"}]}"#])
  func unusable(document: String) async throws {
    try await TokenRig.run(publishing: keySet(key.published())) { rig async throws in
      #expect(try await rig.ask(try key.token()).status == 200)
      rig.keys.publish(document)
      rig.clock.advance(by: 60)
      #expect(try await rig.ask(try IssuerKey("unknown").token()).status == 401)
      #expect(rig.keys.count == 2)
      #expect(try await rig.ask(try key.token()).status == 200)
      #expect(
        rig.lines.texts == [
          "notice: key set taken", "warning: the key set cannot be fetched, the last one serves until it can",
        ])
    }
  }

  @Test("a set that is there ahead lets nobody wait")
  func warmUp() async throws {
    try await TokenRig.run(publishing: keySet(key.published())) { rig async throws in
      #expect(rig.keySet.readinessDetail == "no key set has been had yet")
      rig.keySet.warmUp()
      rig.keySet.warmUp()
      try await until { rig.keySet.use() > 0 }
      rig.keys.hold()
      #expect(try await rig.ask(try key.token()).status == 200)
      #expect(rig.keys.count == 1)
    }
  }
}
