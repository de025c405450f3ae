import Testing

@testable import API

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
