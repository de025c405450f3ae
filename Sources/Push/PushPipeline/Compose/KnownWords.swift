internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

/// Tacet's own words, as the host has them: read from the database by who asks first, and a minute later again.
///
/// Asking takes no time. Until the words are read, and while they cannot be, the last known ones serve.
final class KnownWords {
  /// How long words are taken for current.
  private static let interval = Duration.seconds(60)

  private let store: PushDatabase
  private var words = TacetWords.builtIn
  private var askedAt: UInt64?

  init(in store: PushDatabase) { self.store = store }

  func current(on reactor: isolated Reactor) -> TacetWords {
    if askedAt.map({ Reactor.now &- $0 > Self.interval.clampedNanoseconds }) != false {
      askedAt = Reactor.now
      reactor.start { await self.read(on: reactor) }
    }
    return words
  }

  func read(on reactor: isolated Reactor) async {
    if let read = try? await store.words(on: reactor) { words = read }
  }
}
