package import Postgres
package import PushRules
package import Reactors

// Words that Tacet itself puts into pushes.
extension PushDatabase {
  /// Tacet's own words, with those that the host has put in their place (`tacet.localise('tacet_more', …)`); 1000 at most. What
  /// cannot be a word is left out.
  package func words(on reactor: isolated Reactor) async throws(PostgresError) -> TacetWords {
    var words = TacetWords.builtIn
    for row in try await pool.query(.ownWords, on: reactor) {
      let name: String = try row.decode("name")
      let locale: String = try row.decode("locale")
      let category: String = try row.decode("category")
      guard let name = TacetWords.Name(rawValue: String(name.dropFirst("tacet_".count))),
        let locale = LocaleTag(locale), let category = PluralCategory(rawValue: category)
      else { continue }
      words.set(name, to: try row.decode("text"), for: category, in: locale)
    }
    return words
  }
}
