/// Verified provider tokens by their text: a client sends one token with thousands of pushes, and checking a signature
/// costs more than all the rest of the judgement.
struct ProviderTokenCache {
  /// More tokens than a well-behaved client uses in an hour, by far; a client that signs every request gets no cache.
  private static let entriesMax = 256

  private var entries: [String: Result<ProviderToken, Refusal>] = [:]
  private var keysRevision = 0

  init() {}

  mutating func token(_ text: String, registry: SimulationRegistry) throws(Refusal) -> ProviderToken {
    if registry.keysRevision != keysRevision || entries.count > Self.entriesMax {
      entries.removeAll()
      keysRevision = registry.keysRevision
    }
    if let known = entries[text] { return try known.get() }
    let read: Result<ProviderToken, Refusal>
    do throws(Refusal) {
      read = .success(try ProviderToken(verifying: text, keys: registry.keys))
    } catch {
      read = .failure(error)
    }
    entries[text] = read
    return try read.get()
  }
}
