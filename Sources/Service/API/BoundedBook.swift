/// What is remembered of many, in two generations: when the younger is full it becomes the older, and that one is forgotten.
/// So it is bounded whatever their number, without a search, and what is in use stays.
struct BoundedBook<Key: Hashable & Sendable, Entry: Sendable>: Sendable {
  private let generationMax: Int
  private var younger: [Key: Entry] = [:]
  private var older: [Key: Entry] = [:]

  /// - Parameter generationMax: entries of a generation.
  init(generationMax: Int) { self.generationMax = generationMax }

  /// How many are remembered.
  var count: Int { younger.count + older.count }

  subscript(key: Key) -> Entry? { younger[key] ?? older[key] }

  mutating func remember(_ entry: Entry, of key: Key) {
    if younger[key] == nil, younger.count >= generationMax {
      older = younger
      younger = [:]
    }
    older[key] = nil
    younger[key] = entry
  }
}
